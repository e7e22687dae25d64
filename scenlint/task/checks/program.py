"""A verifier's Python files as one program: which module an import means, and where each file lies when it runs."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from scenlint.source.python import PyModule, parse
from scenlint.source.pyvalue import Value, normal
from scenlint.source.text import Fragment

# Import names that are libraries wherever they are met, so never the agent's work.
LIBRARIES = frozenset(
    [
        "numpy",
        "pandas",
        "scipy",
        "sklearn",
        "torch",
        "torchvision",
        "tensorflow",
        "keras",
        "jax",
        "matplotlib",
        "seaborn",
        "PIL",
        "cv2",
        "skimage",
        "sympy",
        "networkx",
        "requests",
        "httpx",
        "aiohttp",
        "urllib3",
        "flask",
        "fastapi",
        "starlette",
        "uvicorn",
        "django",
        "sqlalchemy",
        "psycopg",
        "psycopg2",
        "pymysql",
        "MySQLdb",
        "mysql",
        "pymongo",
        "redis",
        "pika",
        "kafka",
        "boto3",
        "botocore",
        "docker",
        "paramiko",
        "fabric",
        "selenium",
        "playwright",
        "bs4",
        "lxml",
        "html5lib",
        "yaml",
        "ruamel",
        "toml",
        "tomli",
        "tomllib",
        "jsonschema",
        "pydantic",
        "attr",
        "attrs",
        "click",
        "typer",
        "rich",
        "tqdm",
        "pytest",
        "_pytest",
        "hypothesis",
        "unittest",
        "pexpect",
        "ptyprocess",
        "psutil",
        "cryptography",
        "Crypto",
        "nacl",
        "jwt",
        "jose",
        "passlib",
        "bcrypt",
        "pyarrow",
        "polars",
        "duckdb",
        "h5py",
        "zarr",
        "tables",
        "xarray",
        "dask",
        "openpyxl",
        "xlrd",
        "xlsxwriter",
        "docx",
        "pptx",
        "PyPDF2",
        "pypdf",
        "fitz",
        "pdfplumber",
        "reportlab",
        "rapidfuzz",
        "Levenshtein",
        "jellyfish",
        "nltk",
        "spacy",
        "gensim",
        "transformers",
        "datasets",
        "tokenizers",
        "sentence_transformers",
        "huggingface_hub",
        "openai",
        "anthropic",
        "tiktoken",
        "google",
        "grpc",
        "protobuf",
        "markdown",
        "markdown_it",
        "jinja2",
        "chess",
        "Bio",
        "rdkit",
        "astropy",
        "mujoco",
        "gym",
        "gymnasium",
        "numba",
        "cffi",
        "setuptools",
        "pkg_resources",
        "packaging",
        "pip",
        "wheel",
        "dateutil",
        "pytz",
        "tzlocal",
        "arrow",
        "freezegun",
        "mock",
        "responses",
        "werkzeug",
        "itsdangerous",
        "gunicorn",
        "eventlet",
        "gevent",
        "zmq",
        "websocket",
        "websockets",
        "serial",
        "smbus",
        "usb",
        "git",
        "github",
        "dulwich",
        "magic",
        "chardet",
        "charset_normalizer",
        "sqlparse",
        "tree_sitter",
        "pygments",
        "onnx",
        "onnxruntime",
        "safetensors",
        "peft",
        "accelerate",
        "evaluate",
        "fasttext",
        "librosa",
        "soundfile",
        "mido",
        "music21",
        "pydub",
        "imageio",
        "imagehash",
        "shapely",
        "geopandas",
        "rasterio",
        "pyproj",
        "folium",
        "plotly",
        "bokeh",
        "altair",
        "statsmodels",
        "lightgbm",
        "xgboost",
        "catboost",
        "cvxpy",
        "pulp",
        "ortools",
        "z3",
        "solcx",
        "web3",
        "eth_account",
        "deepgym_solution",
        "telnetlib3",
        "asyncssh",
        "vncdotool",
        "capstone",
        "pwn",
        "angr",
        "scapy",
        "dpkt",
        "pyshark",
        "wandb",
        "mlflow",
        "ray",
    ]
)


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
