import { itemAt } from '../signal/checked.js';
import { singleField } from './request-head.js';

/** `http://host/path`, as proxies may send it. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/** The raw target of a request line. */
interface Target {
  /** The host in a target that names it; it counts instead of the header (RFC 9112 section 3.2.2). */
  readonly authority: string | undefined;
  readonly path: string;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
}

/** Takes a target apart: `/path?query`, or the absolute form. */
export function readTarget(url: string): Target {
  const absolute = url.startsWith('/') ? undefined : ABSOLUTE.exec(url);
  const target = absolute === undefined ? url : originForm(absolute?.[2] ?? url);
  const mark = target.indexOf('?');
  return {
    authority: absolute?.[1],
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
  };
}

/** `?query` and an empty target become a path. */
function originForm(target: string): string {
  return target === '' || target.startsWith('?') ? `/${target}` : target;
}

/**
 * The name, in lower case, of a field that was sent twice although a request has it at most once.
 *
 * @param raw name, value, name, value …, as they were sent
 */
export function repeatedField(raw: readonly string[]): string | undefined {
  // Their names differ in length, so a bit for each length is enough.
  let seen = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const name = singleField(itemAt(raw, at));
    if (name === undefined) continue;
    const bit = 1 << name.length;
    if ((seen & bit) !== 0) return name;
    seen |= bit;
  }
  return undefined;
}
