import { parseComponentId } from '../component/component-id.js';
import type { Tracer } from '../component/telemetry.js';
import { CONTROL_METHODS, isControlStore } from '../storage/contracts/control-store.js';
import { isPartialTelemetryStore, TELEMETRY_METHODS } from '../storage/contracts/telemetry-store.js';

/** Methods by contract. */
type Methods = Readonly<Record<string, Readonly<Record<string, true>>>>;

const TELEMETRY: Methods = { ...TELEMETRY_METHODS, encodedWrites: TELEMETRY_METHODS.writer };

/** The stores of a daemon that traces itself: every call of a contract within a traced request is a span. */
export class TracedStores {
  readonly #tracer: Tracer;
  /** One for each store, because components compare stores. */
  readonly #known = new WeakMap<object, object>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** @returns the component itself if it is no store */
  of<T extends object>(id: string, component: T): T {
    const known = this.#known.get(component);
    if (known !== undefined) return known as T;
    const methods = methodsOf(component);
    if (methods === undefined) return component;
    const system = parseComponentId(id)?.type ?? id;
    const traced = replacing(component, (name, member) => {
      const own = methods[name];
      if (own !== undefined) return this.#contract(system, name, member as object, own);
      return typeof member === 'function' ? (member.bind(component) as unknown) : member;
    });
    this.#known.set(component, traced);
    return traced;
  }

  #contract<C extends object>(system: string, contract: string, object: C, methods: Methods[string]): C {
    return replacing(object, (name, member) => {
      if (typeof member !== 'function') return member;
      if (methods[name] === undefined) return member.bind(object) as unknown;
      const isCommit = contract === 'writer' || contract === 'encodedWrites';
      const operation = isCommit ? `commit ${name}` : `${contract}.${name}`;
      const traced = {
        name: `${system} ${operation}`,
        kind: 'client',
        attributes: { 'db.system.name': system, 'db.operation.name': operation },
      } as const;
      return (...args: readonly unknown[]) =>
        this.#tracer.call(traced, () => Reflect.apply(member, object, args) as unknown);
    });
  }
}

function methodsOf(component: object): Methods | undefined {
  if (isControlStore(component)) return CONTROL_METHODS;
  return isPartialTelemetryStore(component) ? TELEMETRY : undefined;
}

/** An object whose members are replaced on first use. The members of classes with private fields need the original as `this`. */
function replacing<T extends object>(target: T, replace: (name: string, member: unknown) => unknown): T {
  const replaced = new Map<string, { readonly from: unknown; readonly by: unknown }>();
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof name !== 'string' || member === null || member === undefined) return member;
      if (typeof member !== 'object' && typeof member !== 'function') return member;
      let found = replaced.get(name);
      if (found?.from !== member) {
        found = { from: member, by: replace(name, member) };
        replaced.set(name, found);
      }
      return found.by;
    },
  });
}
