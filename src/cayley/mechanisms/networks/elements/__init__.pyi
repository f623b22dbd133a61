"""The names of `cayley.mechanisms.networks.elements`, and where each is written."""

from cayley.mechanisms.networks.elements.couplings import Gear as Gear
from cayley.mechanisms.networks.elements.couplings import Gyrator as Gyrator
from cayley.mechanisms.networks.elements.couplings import Motor as Motor
from cayley.mechanisms.networks.elements.couplings import RackAndPinion as RackAndPinion
from cayley.mechanisms.networks.elements.couplings import Transformer as Transformer
from cayley.mechanisms.networks.elements.electric import Ammeter as Ammeter
from cayley.mechanisms.networks.elements.electric import Capacitor as Capacitor
from cayley.mechanisms.networks.elements.electric import CurrentSource as CurrentSource
from cayley.mechanisms.networks.elements.electric import Inductor as Inductor
from cayley.mechanisms.networks.elements.electric import Resistor as Resistor
from cayley.mechanisms.networks.elements.electric import VoltageSource as VoltageSource
from cayley.mechanisms.networks.elements.electric import Voltmeter as Voltmeter
from cayley.mechanisms.networks.elements.element import Element as Element
from cayley.mechanisms.networks.elements.rotation import Inertia as Inertia
from cayley.mechanisms.networks.elements.rotation import JointShaft as JointShaft
from cayley.mechanisms.networks.elements.rotation import ShaftDamper as ShaftDamper
from cayley.mechanisms.networks.elements.rotation import ShaftSpring as ShaftSpring
from cayley.mechanisms.networks.elements.rotation import SpeedSource as SpeedSource
from cayley.mechanisms.networks.elements.rotation import Tachometer as Tachometer
from cayley.mechanisms.networks.elements.rotation import TorqueSensor as TorqueSensor
from cayley.mechanisms.networks.elements.rotation import TorqueSource as TorqueSource
from cayley.mechanisms.networks.elements.translation import Damper as Damper
from cayley.mechanisms.networks.elements.translation import ForceSource as ForceSource
from cayley.mechanisms.networks.elements.translation import JointSlide as JointSlide
from cayley.mechanisms.networks.elements.translation import Mass as Mass
from cayley.mechanisms.networks.elements.translation import Spring as Spring
