from cayley.learning.draws import uniform as uniform
from cayley.learning.environment import Environment as Environment
from cayley.learning.episodes import Episodes as Episodes
from cayley.learning.rsl_rl_environment import RslRlEnvironment as RslRlEnvironment
