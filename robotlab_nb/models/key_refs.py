"""Where API keys are, without holding more of them than needed.

A key is a reference: to an environment variable that is read when a call is made, or to a value
that was given and is shown nowhere. Every key that is found is registered as a secret. Knows
providers by name only, and sends nothing.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ..core import secrets
from ..core.errors import ConfigurationError, RactorBoundaryError

__all__ = [
    "KEYLESS",
    "PROVIDERS",
    "KeyRef",
    "default_key",
    "missing_key",
    "remember",
    "remember_all",
]

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
#: what people write where a server wants some key and looks at none
_PLACEHOLDERS = frozenset({"EMPTY", "NONE", "X"})
#: the same, long enough to be taken for a key: masking these would only blot out words
_NO_KEYS = frozenset(
    {
        "anything", "dummy-key", "dummykey", "fake-key", "lm-studio", "lmstudio", "no-key-needed",
        "no-key-required", "no_key_needed", "not-needed", "not-required", "not_needed", "notneeded",
        "placeholder", "required", "sk-no-key-required", "simulated", "undefined", "your-api-key",
    }
)  # fmt: skip

#: providers with key variables of another name than PROVIDER_API_KEY; any one of them will do
_VARIABLES: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "azure": ("AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_AD_TOKEN", "AZURE_CLIENT_SECRET"),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY"),
    "friendliai": ("FRIENDLI_TOKEN", "FRIENDLIAI_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "gigachat": ("GIGACHAT_API_KEY", "GIGACHAT_CREDENTIALS"),
    "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
    "lambda_ai": ("LAMBDA_API_KEY",),
    "meta_llama": ("LLAMA_API_KEY",),
    "nano-gpt": ("NANOGPT_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "perplexity": ("PERPLEXITY_API_KEY", "PERPLEXITYAI_API_KEY"),
    "replicate": ("REPLICATE_API_KEY", "REPLICATE_API_TOKEN"),
    "text-completion-openai": ("OPENAI_API_KEY",),
    "together_ai": (
        "TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHER_AI_TOKEN",
    ),
    "vercel_ai_gateway": ("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
    "volcengine": ("VOLCENGINE_API_KEY", "ARK_API_KEY"),
    "watsonx": ("WATSONX_API_KEY", "WATSONX_APIKEY", "WX_API_KEY", "WATSONX_TOKEN"),
}  # fmt: skip
#: providers that are reached without a key, or by other means than one variable
KEYLESS = frozenset(
    {
        "bedrock", "bedrock_mantle", "chatgpt", "custom", "databricks", "docker_model_runner",
        "github_copilot", "hosted_vllm", "lemonade", "litellm_proxy", "llamafile", "lm_studio",
        "oci", "ollama", "ollama_chat", "oobabooga", "openai_like", "petals", "sagemaker",
        "sagemaker_chat", "snowflake", "triton", "vertex_ai", "vertex_ai_beta", "vllm",
        "xinference",
    }
)  # fmt: skip
#: what a provider is let in by where no key is needed, or beside its key
_MORE: dict[str, tuple[str, ...]] = {
    "bedrock": ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"),
    "databricks": ("DATABRICKS_TOKEN", "DATABRICKS_CLIENT_SECRET"),
    "oci": ("OCI_KEY",),
    "snowflake": ("SNOWFLAKE_JWT",),
    "watsonx": ("WATSONX_ZENAPIKEY",),
}
_SAME_AS = {"bedrock_mantle": "bedrock", "sagemaker": "bedrock", "sagemaker_chat": "bedrock"}
#: providers whose key is in PROVIDER_API_KEY
_PLAIN = frozenset(
    {
        "ai21", "aiml", "azure_ai", "baseten", "cerebras", "cloudflare", "codestral",
        "dashscope", "deepinfra", "deepseek", "featherless_ai", "galadriel",
        "github", "groq", "heroku", "hyperbolic", "inception", "minimax", "mistral",
        "moonshot", "morph", "nebius", "novita", "nscale", "nvidia_nim", "openai", "ovhcloud",
        "poe", "publicai", "sambanova", "scaleway", "v0", "voyage", "wandb", "xai",
        "zai",
    }
)  # fmt: skip

#: The providers that need no look-up in the price file.
PROVIDERS = _PLAIN | KEYLESS | _VARIABLES.keys()


class KeyRef:
    """A reference to an API key.

    Parameters
    ----------
    *names : str
        Environment variables; the first that is set holds the key.
    value : str, optional
        The key itself, in place of a variable.

    Examples
    --------
    >>> KeyRef("OPENAI_API_KEY")
    <KeyRef OPENAI_API_KEY>
    >>> KeyRef(value="sk-secret")
    <KeyRef given, not shown>
    >>> KeyRef(value="sk-secret").get()
    'sk-secret'
    """

    __slots__ = ("_value", "names")

    def __init__(self, *names: str, value: str | None = None) -> None:
        self.names = names
        self._value = value
        if value is not None:
            remember(value, "api_key")

    @classmethod
    def of(cls, api_key: Any) -> KeyRef | None:
        """Read what a person passed as ``api_key=``.

        Parameters
        ----------
        api_key : str, KeyRef or None
            A key, or the name of an environment variable in capitals.

        Raises
        ------
        ConfigurationError
            When it is neither, or empty.

        Examples
        --------
        >>> KeyRef.of("MY_KEY").name, KeyRef.of("sk-1").name
        ('MY_KEY', None)
        """
        if api_key is None or isinstance(api_key, cls):
            return api_key
        if not isinstance(api_key, str):
            raise ConfigurationError(
                f"api_key= cannot be of type {type(api_key).__name__}",
                hint="Pass a key, or the name of an environment variable that holds one.",
            )
        text = api_key.strip()
        if not text:
            raise ConfigurationError("api_key= is empty", hint="Leave it out, or pass a key.")
        if _VARIABLE.fullmatch(text) and text not in _PLACEHOLDERS:
            return cls(text)
        return cls(value=text)

    @property
    def name(self) -> str | None:
        """The environment variable to set; None for a key that was given."""
        return self.names[0] if self.names else None

    def get(self) -> str | None:
        """The key as it is now; None when there is none."""
        if self._value is not None:
            return self._value
        for name in self.names:
            value = os.environ.get(name, "").strip()
            if value:
                remember(value, name)
                return value
        return None

    __call__ = get

    def __repr__(self) -> str:
        return f"<KeyRef {' or '.join(self.names) or 'given, not shown'}>"

    def __reduce__(self) -> Any:
        if self._value is not None:
            raise RactorBoundaryError(
                "an API key that was passed as a value is not written anywhere",
                hint="Pass the name of an environment variable as api_key=.",
            )
        return KeyRef, self.names


def remember(key: str, name: str) -> None:
    """Register a key as a secret, so that it is masked wherever text is shown or kept.

    Parameters
    ----------
    key : str
        What people write where no key is needed is let be.
    name : str
        Its environment variable, or the field in which it was given.
    """
    if key.lower() not in _NO_KEYS:
        secrets.register(key, name)


def remember_all(provider: str) -> None:
    """Register everything in the environment that lets us in at a provider.

    Parameters
    ----------
    provider : str
    """
    own = _SAME_AS.get(provider, provider)
    usual = re.sub(r"\W", "_", own).upper() + "_API_KEY"
    for name in (*_VARIABLES.get(own, ()), *_MORE.get(own, ()), usual):
        value = os.environ.get(name, "").strip()
        if value:
            remember(value, name)


def default_key(provider: str) -> KeyRef | None:
    """Where a provider's key usually is; None for a provider that needs none.

    Examples
    --------
    >>> default_key("gemini")
    <KeyRef GEMINI_API_KEY or GOOGLE_API_KEY>
    >>> default_key("ollama") is None
    True
    """
    if provider in KEYLESS:
        return None
    names = _VARIABLES.get(provider)
    return KeyRef(*(names or (re.sub(r"\W", "_", provider).upper() + "_API_KEY",)))


def missing_key(model: str, variable: str) -> ConfigurationError:
    """The error to raise when a named model has no key.

    Examples
    --------
    >>> print(missing_key("openai/gpt-5-mini", "OPENAI_API_KEY"))
    no key for openai/gpt-5-mini: set OPENAI_API_KEY, pass api_key=, or use model='simulated' to ...
    """
    return ConfigurationError(
        f"no key for {model}: set {variable}, pass api_key=, "
        "or use model='simulated' to go on without one"
    )
