import { KeyNames, ValueHash } from './keys.js';
import type { RedactConfig } from './config.js';
import type { Redaction } from './records/redaction.js';
import { BUILTIN, BUILTIN_NAMES } from './text/builtin.js';
import type { Finder } from './text/finder.js';
import { patternFinder } from './text/pattern.js';
import { TextRedactor } from './text/text-redactor.js';
import { Gate } from './values/gate.js';
import { Redactor } from './values/redactor.js';

/** Builds the redaction of a configuration. @param count receives each replacement, by the name of its pattern */
export function redactionOf(config: RedactConfig, count: (pattern: string) => void): Redaction {
  const finders: Finder[] = [
    ...config.patterns.map(({ name, regex, replacement }) =>
      patternFinder(name, regex, replacement ?? `[${name}]`),
    ),
    // In a fixed order, independent of the configuration.
    ...BUILTIN_NAMES.filter((name) => config.builtin.includes(name)).map((name) => BUILTIN[name]),
  ];
  const names = new KeyNames(config.keys);
  const hashed = new KeyNames(config.hash?.keys ?? []);
  const hash = config.hash === undefined ? null : new ValueHash(config.hash.secret);
  const gate = new Gate(finders, [names, hashed]);
  return {
    redactor: new Redactor(new TextRedactor(finders, count), gate, { names, hashed, hash }, count),
    fields: new Set(config.fields),
    gate,
    origins: new WeakMap(),
    sentOrigins: new WeakMap(),
  };
}

/** Names of the patterns counted with a configuration. */
export function countedNames(config: RedactConfig): string[] {
  return [
    ...config.patterns.map(({ name }) => name),
    ...config.builtin,
    ...(config.keys.length > 0 ? ['keys'] : []),
    ...(config.hash === undefined ? [] : ['hash']),
  ];
}

/** Checks rules that the schema cannot express. */
export function problemsOf({
  patterns,
}: RedactConfig): { readonly path: string; readonly message: string }[] {
  const reserved = new Set<string>([...BUILTIN_NAMES, 'keys', 'hash']);
  return patterns.flatMap(({ name, regex }, index) => {
    const path = `/patterns/${index}`;
    const isTwice = patterns.findIndex((other) => other.name === name) < index;
    const problems =
      isTwice || reserved.has(name)
        ? [
            {
              path: `${path}/name`,
              message: `"${name}" is already the name of another pattern; names must be unique`,
            },
          ]
        : [];
    try {
      patternFinder(name, regex, '');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      problems.push({ path: `${path}/regex`, message: `is not a valid pattern: ${reason}` });
    }
    return problems;
  });
}
