"""The hooks of all plugins, of which pluggy sees those that somebody may call through it.

A hook that registers something is called once, by the registry itself. Only observers are called
through pluggy, and most plugins have none; so pluggy, which takes as long to import as Python takes
to start, is imported when a plugin does more than register, or when a run begins.
"""

from collections.abc import Mapping, Sequence
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING

from anonloom._marks import hookimpl
from anonloom._spelling import did_you_mean

if TYPE_CHECKING:
    import pluggy

_REGISTERS = "anonloom_register_"
_VARIABLE_ARGUMENTS = 0x04 | 0x08


class Unusable(Exception):
    """A plugin breaks the contract; the text says how."""


class Hooks:
    """The hooks that are specified, and who implements them.

    Parameters
    ----------
    specifications : mapping of str to function
        The hooks that belong to no kind, by name.
    """

    def __init__(self, specifications: Mapping[str, object]) -> None:
        self._specifications = dict(specifications)
        self._plain: list[object] = []
        self._manager: pluggy.PluginManager | None = None

    @property
    def manager(self) -> "pluggy.PluginManager":
        """What calls observers; made on first use."""
        if self._manager is None:
            import pluggy

            self._manager = pluggy.PluginManager("anonloom")
            self._manager.add_hookspecs(_module_of(self._specifications))
        return self._manager

    @property
    def observed(self) -> bool:
        """Whether there may be an observer."""
        return self._manager is not None

    def specify(self, name: str, specification: object) -> None:
        """Specify a hook, unless it is specified already, by a kind that was withdrawn."""
        if name in self._specifications:
            return
        self._specifications[name] = specification
        if self._manager is not None:
            self._manager.add_hookspecs(_module_of({name: specification}))

    def holds(self, module: object) -> bool:
        """Whether a plugin was taken in."""
        if any(module is plain for plain in self._plain):
            return True
        return self._manager is not None and self._manager.is_registered(module)

    def refuse_unmarked(self, module: object) -> None:
        """Refuse hooks that pluggy would silently leave out or that would wrap others.

        Raises
        ------
        Unusable
            Naming the first.
        """
        if _plain_hooks(module) is not None:
            return
        for name in dir(module):
            if name.startswith("anonloom_") and callable(getattr(module, name)):
                options = self.manager.parse_hookimpl_opts(module, name)
                if options is None:
                    raise Unusable(f"'{name}' is not marked with @hookimpl")
                if options["wrapper"] or options["hookwrapper"]:
                    raise Unusable(f"'{name}' is a hook wrapper, which Anonloom does not use")

    def take(self, module: object, name: str, known: Sequence[str]) -> None:
        """Take in a plugin.

        Parameters
        ----------
        name : str
            What observers of the plugin are called.
        known : sequence of str
            The hooks that are specified and not withdrawn.

        Raises
        ------
        Unusable
            If a hook has other arguments than its specification, or is not specified: it would
            never be called.
        """
        plain = _plain_hooks(module)
        if plain is not None and plain <= set(known):
            self._plain.append(module)
            return
        from pluggy import PluginValidationError

        try:
            self.manager.register(module, name=name)
        except PluginValidationError as error:
            # pluggy's first lines repeat plugin and hook; the last one says what is wrong.
            raise Unusable(str(error).strip().splitlines()[-1].strip()) from error
        for caller in self.manager.get_hookcallers(module) or []:
            if caller.name not in known:
                guess = did_you_mean(caller.name, known)
                raise Unusable("; ".join(filter(None, [f"unknown hook '{caller.name}'", guess])))

    def drop(self, module: object) -> None:
        """Forget a plugin, its observers included."""
        self._plain = [plain for plain in self._plain if plain is not module]
        if self._manager is not None and self._manager.is_registered(module):
            self._manager.unregister(module)


def _plain_hooks(module: object) -> set[str] | None:
    """Return the hooks of a module that does nothing but register things, in the plainest form.

    None if pluggy has to judge: something else than functions without arguments may be a hook.
    """
    if type(module) is not ModuleType or "__dir__" in vars(module):
        return None
    results = set()
    for name, value in vars(module).items():
        if not isinstance(value, FunctionType):
            looks_so = name.startswith("anonloom_") and callable(value)
            if looks_so or isinstance(value, MethodType | staticmethod | classmethod):
                return None
            continue
        mark = getattr(value, hookimpl.attribute, None)
        if mark is None and not name.startswith("anonloom_"):
            continue
        code = value.__code__
        arguments = (
            code.co_argcount + code.co_kwonlyargcount + (code.co_flags & _VARIABLE_ARGUMENTS)
        )
        if mark != hookimpl.plain or arguments or not name.startswith(_REGISTERS):
            return None
        results.add(name)
    return results


def _module_of(hooks: Mapping[str, object]) -> ModuleType:
    """Return a module with these specifications, the form in which pluggy takes them."""
    module = ModuleType("anonloom_hooks")
    vars(module).update(hooks)
    return module
