import type { Route } from '../component/http.js';
import type { Method } from '../component/operation.js';
import { itemAt } from '../signal/checked.js';

export type Match =
  | { readonly kind: 'found'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  /** The path exists, the method does not. @see allow */
  | {
      readonly kind: 'wrong_method';
      readonly allow: readonly string[];
      readonly isPublic: boolean;
      /** A route of the path. */
      readonly route: Route | undefined;
    }
  /** A route would match if the path were well-formed percent-encoded UTF-8. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown' };

interface Entry {
  readonly route: Route;
  /** Names of the placeholders, in the order of the path. */
  readonly names: readonly string[];
}

type Leaf = Map<Method, Entry>;

interface Branch {
  readonly statics: Map<string, Branch>;
  placeholder?: Branch;
  leaf?: Leaf;
}

const PLACEHOLDER = /^\{([a-z][a-z0-9_]*)\}$/;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/** Removes the trailing slash of a path. */
export function trimSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/**
 * Finds routes by method and path. The raw path is matched by segments; a literal segment takes precedence over a placeholder,
 * and a placeholder never matches an empty segment. HEAD is served by GET.
 */
export class Router {
  readonly #routes: Route[] = [];
  /** Paths without placeholders, which are most of the traffic. */
  readonly #literal = new Map<string, Leaf>();
  /** Aliases, and the paths of routes with aliases. */
  readonly #aliases = new Map<string, Leaf>();
  readonly #root: Branch = { statics: new Map() };

  routes(): readonly Route[] {
    return this.#routes;
  }

  /** @throws Error if the path is not a valid route, or method and path are already used */
  add(route: Route): void {
    const path = trimSlash(route.path);
    if (!path.startsWith('/'))
      throw new Error(`route ${route.method} ${route.path}: the path must begin with a slash`);
    const names: string[] = [];
    let branch = this.#root;
    for (const segment of segmentsOf(path)) {
      const name = PLACEHOLDER.exec(segment)?.[1];
      if (name === undefined) {
        if (/[{}]/.test(segment)) {
          throw new Error(
            `route ${route.method} ${route.path}: a placeholder is a whole segment, as in /agents/{agent_id}`,
          );
        }
        branch = childOf(branch, segment);
      } else {
        if (names.includes(name))
          throw new Error(`route ${route.method} ${route.path}: {${name}} occurs twice`);
        names.push(name);
        branch = branch.placeholder ??= { statics: new Map() };
      }
    }
    const leaf = (branch.leaf ??= new Map<Method, Entry>());
    const taken = leaf.get(route.method);
    if (taken !== undefined) {
      throw new Error(
        `route ${route.method} ${route.path} conflicts with ${taken.route.method} ${taken.route.path}`,
      );
    }
    leaf.set(route.method, { route, names });
    if (names.length === 0) this.#literal.set(path, leaf);
    if (route.aliases) for (const alias of [path, ...route.aliases]) this.#aliases.set(alias, leaf);
    this.#routes.push(route);
  }

  /** @param path raw, {@link trimSlash trimmed} */
  match(method: string, path: string): Match {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const literal = this.#literal.get(path)?.get(wanted as Method);
    if (literal !== undefined) return { kind: 'found', route: literal.route, params: NO_PARAMS };

    const found: { leaf: Leaf; values: readonly string[] }[] = [];
    collect(this.#root, segmentsOf(path), 0, [], found);
    for (const { leaf, values } of found) {
      const entry = leaf.get(wanted as Method);
      if (entry === undefined) continue;
      const params = decode(entry.names, values);
      return params === undefined ? { kind: 'malformed' } : { kind: 'found', route: entry.route, params };
    }
    if (found.length === 0) {
      const alias = this.#aliases.get(path.replace(/\/{2,}/g, '/'))?.get(wanted as Method);
      return alias ? { kind: 'found', route: alias.route, params: NO_PARAMS } : { kind: 'unknown' };
    }
    const entries = found.flatMap(({ leaf }) => [...leaf.values()]);
    return {
      kind: 'wrong_method',
      allow: allowed(new Set(entries.map((entry) => entry.route.method))),
      isPublic: entries.every((entry) => entry.route.isPublic === true),
      route: entries[0]?.route,
    };
  }
}

function segmentsOf(path: string): string[] {
  return path === '/' ? [] : path.slice(1).split('/');
}

function childOf(branch: Branch, segment: string): Branch {
  const known = branch.statics.get(segment);
  if (known !== undefined) return known;
  const child: Branch = { statics: new Map() };
  branch.statics.set(segment, child);
  return child;
}

/** Finds every leaf that the path may match, the most literal first. */
function collect(
  branch: Branch,
  segments: readonly string[],
  at: number,
  values: readonly string[],
  found: { leaf: Leaf; values: readonly string[] }[],
): void {
  const segment = segments[at];
  if (segment === undefined) {
    if (branch.leaf !== undefined) found.push({ leaf: branch.leaf, values });
    return;
  }
  const child = branch.statics.get(segment);
  if (child !== undefined) collect(child, segments, at + 1, values, found);
  if (branch.placeholder !== undefined && segment !== '') {
    collect(branch.placeholder, segments, at + 1, [...values, segment], found);
  }
}

function decode(names: readonly string[], values: readonly string[]): Record<string, string> | undefined {
  try {
    return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(itemAt(values, index))]));
  } catch {
    return undefined;
  }
}

function allowed(methods: ReadonlySet<Method>): string[] {
  const names: string[] = METHODS.filter((method) => methods.has(method));
  if (methods.has('GET')) names.splice(1, 0, 'HEAD');
  return [...names, 'OPTIONS'];
}
