import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { text } from '../conventions/readers.js';

const URL_KEY = 'vcs.repository.url.full';
const NAME_KEY = 'vcs.repository.name';
const OWNER_KEY = 'vcs.owner.name';

/** Owner and name in the address of a repository, also in the form of SSH: `git@example.com:owner/name.git`. */
const nameInUrl: Reader = (value) => {
  const url = text(value);
  if (typeof url !== 'string' || url.length > MAX_URL) return undefined;
  const [path = ''] = url.trim().replace(HOST, '').split(/[?#]/, 1);
  const name = path
    .split('/')
    .filter((part) => part !== '')
    .join('/')
    .replace(/\.git$/, '');
  return name === '' ? undefined : name;
};

const MAX_URL = 2048;
/** The beginning of an address, up to the path. A host may be an IPv6 address in brackets. */
const HOST = /^(?:[a-z][a-z+]*:\/\/[^/]*(?:\/|$)|(?:[^/:@]*@)?(?:\[[^\]/]*\]|[^/:]*):)/i;

/** OpenTelemetry's conventions of version control, which coding agents and CI set on the resource. */
export const VCS: Convention = {
  fields: { repository: { [URL_KEY]: { rank: 1, read: nameInUrl }, [NAME_KEY]: { rank: 2 } } },
};

/**
 * The repository that a resource names, and the attribute with it: its address, else its name, with the owner if that is known.
 *
 * @returns null if the resource names none
 */
export function repositoryIn(resource: JsonObject): { readonly name: string; readonly key: string } | null {
  const inUrl = own(resource, URL_KEY, nameInUrl);
  if (inUrl !== undefined) return { name: inUrl, key: URL_KEY };
  const name = own(resource, NAME_KEY, text);
  if (name === undefined) return null;
  const owner = name.includes('/') ? undefined : own(resource, OWNER_KEY, text);
  return { name: owner === undefined ? name : `${owner}/${name}`, key: NAME_KEY };
}

function own(resource: JsonObject, key: string, read: Reader): string | undefined {
  const value: JsonValue | undefined = Object.hasOwn(resource, key) ? resource[key] : undefined;
  const found = value === undefined ? undefined : read(value);
  return typeof found === 'string' ? found : undefined;
}
