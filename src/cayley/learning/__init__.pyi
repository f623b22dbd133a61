from cayley.learning.draws import uniform as uniform
from cayley.learning.environment import Environment as Environment
