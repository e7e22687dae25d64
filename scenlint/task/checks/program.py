"""A verifier's Python files as one program: which module an import means, and where each file lies when it runs."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scenlint.source.pyfold import normal
from scenlint.source.python import PyModule, parse
from scenlint.source.pyvalue import Value
from scenlint.source.text import Fragment

# Import names that are libraries wherever they are met, so never the agent's work.
LIBRARIES = frozenset([
    "_pytest", "accelerate", "aiohttp", "altair", "angr", "anthropic", "arrow", "astropy", "asyncssh", "attr",
    "attrs", "bcrypt", "Bio", "bokeh", "boto3", "botocore", "bs4", "capstone", "catboost", "cffi", "chardet",
    "charset_normalizer", "chess", "click", "Crypto", "cryptography", "cv2", "cvxpy", "dask", "datasets",
    "dateutil", "deepgym_solution", "django", "docker", "docx", "dpkt", "duckdb", "dulwich", "eth_account",
    "evaluate", "eventlet", "fabric", "fastapi", "fasttext", "fitz", "flask", "folium", "freezegun", "gensim",
    "geopandas", "gevent", "git", "github", "google", "grpc", "gunicorn", "gym", "gymnasium", "h5py", "html5lib",
    "httpx", "huggingface_hub", "hypothesis", "imagehash", "imageio", "itsdangerous", "jax", "jellyfish", "jinja2",
    "jose", "jsonschema", "jwt", "kafka", "keras", "Levenshtein", "librosa", "lightgbm", "lxml", "magic",
    "markdown", "markdown_it", "matplotlib", "mido", "mlflow", "mock", "mujoco", "music21", "mysql", "MySQLdb",
    "nacl", "networkx", "nltk", "numba", "numpy", "onnx", "onnxruntime", "openai", "openpyxl", "ortools",
    "packaging", "pandas", "paramiko", "passlib", "pdfplumber", "peft", "pexpect", "pika", "PIL", "pip",
    "pkg_resources", "playwright", "plotly", "polars", "pptx", "protobuf", "psutil", "psycopg", "psycopg2",
    "ptyprocess", "pulp", "pwn", "pyarrow", "pydantic", "pydub", "pygments", "pymongo", "pymysql", "pypdf",
    "PyPDF2", "pyproj", "pyshark", "pytest", "pytz", "rapidfuzz", "rasterio", "ray", "rdkit", "redis", "reportlab",
    "requests", "responses", "rich", "ruamel", "safetensors", "scapy", "scipy", "seaborn", "selenium",
    "sentence_transformers", "serial", "setuptools", "shapely", "skimage", "sklearn", "smbus", "solcx",
    "soundfile", "spacy", "sqlalchemy", "sqlparse", "starlette", "statsmodels", "sympy", "tables", "telnetlib3",
    "tensorflow", "tiktoken", "tokenizers", "toml", "tomli", "tomllib", "torch", "torchvision", "tqdm",
    "transformers", "tree_sitter", "typer", "tzlocal", "unittest", "urllib3", "usb", "uvicorn", "vncdotool",
    "wandb", "web3", "websocket", "websockets", "werkzeug", "wheel", "xarray", "xgboost", "xlrd", "xlsxwriter",
    "yaml", "z3", "zarr", "zmq",
])  # fmt: skip


@dataclass
class Setup:
    """What the follower is told of the world: where files lie and what is whose."""

    modules: dict[str, PyModule]  # path when run -> module
    own: Callable[[str], bool] = lambda path: False  # the verifier's own files
    hidden: Callable[[str], bool] = lambda path: False  # the verdict and logs: nobody's business
    agents: Callable[[str], bool] = lambda name: False  # import names of the agent's modules
    strangers: Callable[[str], bool] = lambda name: False  # the agent's where its folder is on the path
    environment: dict[str, Value] = field(default_factory=dict)
    arguments: tuple[Value, ...] = ()  # sys.argv[1:]
    helpers: dict[str, Callable[..., Value]] = field(default_factory=dict)

    def home(self, module: PyModule) -> str:
        """Where a module's file lies when it runs."""
        return next((path for path, m in self.modules.items() if m is module), str(module.fragment.path))

    def find(self, name: str, module: PyModule) -> PyModule | None:
        """The verifier's own module that an import of this dotted name means."""
        level = len(name) - len(name.lstrip("."))
        parts = name.lstrip(".").split(".")
        if level:
            base = posixpath.dirname(self.home(module))
            for _ in range(level - 1):
                base = posixpath.dirname(base)
            stem = posixpath.join(base, *[p for p in parts if p])
            return self.modules.get(stem + ".py") or self.modules.get(stem + "/__init__.py")
        tail = "/".join(parts)
        here = posixpath.dirname(self.home(module))
        for path in (f"{here}/{tail}.py", f"{here}/{tail}/__init__.py"):
            if normal(path) in self.modules:
                return self.modules[normal(path)]
        if parts[0] in sys.stdlib_module_names:
            return None
        ends = (f"/{tail}.py", f"/{tail}/__init__.py")
        return next((m for path, m in self.modules.items() if ("/" + path).endswith(ends)), None)


def modules(fragments: Iterable[Fragment], home: Callable[[Fragment], str]) -> dict[str, PyModule]:
    """The Python fragments, parsed, by where they lie when they run."""
    return {normal(home(f)): parse(f) for f in fragments if f.language == "python"}
