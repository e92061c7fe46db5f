import type { JsonObject, JsonValue } from '../../signal/attributes.js';

/**
 * What lies at a path within an object. A path is one key, dots included, where there is one; otherwise it goes down dot by dot.
 *
 * @returns undefined where nothing is there
 */
export function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  if (Object.hasOwn(object, path)) return object[path];
  const below = inside(object, path);
  return below === undefined ? undefined : valueAt(below.object, below.path);
}

/** The object with something else at a path: what it shares with the first is not copied. What is not there is made as one key. */
export function withValue(object: JsonObject, path: string, value: JsonValue): JsonObject {
  const below = Object.hasOwn(object, path) ? undefined : inside(object, path);
  return below === undefined
    ? withKey(object, path, value)
    : withKey(object, below.key, withValue(below.object, below.path, value));
}

/** The object without what lies at a path; itself where nothing does. */
export function withoutValue(object: JsonObject, path: string): JsonObject {
  if (Object.hasOwn(object, path))
    return Object.fromEntries(Object.entries(object).filter(([key]) => key !== path));
  const below = inside(object, path);
  if (below === undefined) return object;
  const rest = withoutValue(below.object, below.path);
  return rest === below.object ? object : withKey(object, below.key, rest);
}

/** The object that the first part of a path leads to. Keys may have dots themselves: the longest that is there counts. */
function inside(
  object: JsonObject,
  path: string,
): { readonly key: string; readonly object: JsonObject; readonly path: string } | undefined {
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const key = path.slice(0, dot);
    const below = Object.hasOwn(object, key) ? object[key] : undefined;
    if (typeof below === 'object' && below !== null && !Array.isArray(below))
      return { key, object: below, path: path.slice(dot + 1) };
  }
  return undefined;
}

/** Built of entries, as `__proto__` is a key like others. */
function withKey(object: JsonObject, key: string, value: JsonValue): JsonObject {
  return Object.fromEntries([...Object.entries(object).filter(([name]) => name !== key), [key, value]]);
}
