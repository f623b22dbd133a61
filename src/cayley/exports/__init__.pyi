from cayley.exports.folder import ExportedFolder as ExportedFolder
from cayley.exports.folder import export_folder as export_folder
from cayley.exports.layouts import LAYOUTS as LAYOUTS
