"""Turns PyTorch source into MindSpore source: losslessly, and only where it is certain."""

from .project import convert_project as convert_project
from .snippet import Conversion as Conversion
from .snippet import convert_source as convert_source
