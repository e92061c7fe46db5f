import type { Kind } from './conventions/convention.js';
import { CONVENTIONS } from './clients/index.js';
import { NamePatterns } from './name-patterns.js';

const ANY = '*';

/** Names of spans by the name of their scope. */
const KINDS: ReadonlyMap<string, readonly { readonly names: NamePatterns; readonly kind: Kind }[]> = new Map(
  CONVENTIONS.flatMap(({ spanNames }) =>
    spanNames === undefined
      ? []
      : [
          [
            spanNames.scope,
            Object.entries(spanNames.kinds).map(([pattern, kind]) => ({
              names: new NamePatterns([pattern]),
              kind,
            })),
          ],
        ],
  ),
);

/** Names of spans that are unique regardless of their scope. */
const EVERYWHERE: ReadonlyMap<string, Kind> = new Map(
  CONVENTIONS.flatMap(({ spanNames }) => (spanNames?.scope === ANY ? Object.entries(spanNames.kinds) : [])),
);

/** The kind of a span by its name, for clients that show it only there. @param scope the name of its instrumentation scope */
export function kindByName(scope: unknown, spanName: string): Kind | null {
  const kinds = typeof scope === 'string' ? KINDS.get(scope) : undefined;
  return kinds?.find(({ names }) => names.has(spanName))?.kind ?? EVERYWHERE.get(spanName) ?? null;
}
