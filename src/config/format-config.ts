import { stringify } from 'yaml';
import { maskUrls } from '../component/url-secrets.js';
import { nodeAt, type ConfigNode, type MapNode } from './config-node.js';
import { areTyped, schemasAt, schemasOf, type Schemas } from './schemas-at.js';
import { isSecret } from './schema.js';

/** A section of the configuration, or a component's part of one. */
export interface FormattedPart {
  /** Path of the section: `[auth]`, `[exporters, otlp_http]`. */
  readonly path: readonly string[];
  /** Checked, with defaults filled in. */
  readonly value: unknown;
  readonly schema: object;
  /** Values that must never be shown, in addition to those that the schema marks. */
  readonly secrets: readonly string[];
}

const SECRET = '[secret]';
/** Placeholder for a value without a schema, as plugins may have them: it may be a secret. */
const UNKNOWN = '[not shown: unknown to the schema]';
/** Shorter texts occur by chance in other texts. */
const LEAST_SHARED = 6;

const HEAD = ` The effective configuration: all files merged, defaults filled in.
 Values from the environment or from files are shown as references, secrets as ${SECRET}.`;

/**
 * The configuration as YAML, without anything that came from the environment or from a file, and without secrets: those that
 * schemas mark, those that components name, those in URLs, and whatever repeats one of them in the same part.
 *
 * @param root as it was written
 */
export function formatConfig(root: MapNode, parts: readonly FormattedPart[]): string {
  const whole: Record<string, unknown> = {};
  for (const { path, value, schema, secrets } of parts) {
    const printer = new Printer(schema, secrets);
    const printed = printer.print(value, nodeAt(root, path), schemasOf(schema));
    const [section = '', id] = path;
    if (id === undefined) whole[section] = printed;
    else whole[section] = { ...(whole[section] as object | undefined), [id]: printed };
  }
  return `${HEAD.replaceAll(/^/gm, '#')}\n${stringify(whole, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

class Printer {
  readonly #schema: object;
  readonly #secrets: readonly string[];

  constructor(schema: object, secrets: readonly string[]) {
    this.#schema = schema;
    this.#secrets = secrets.filter((secret) => secret !== '');
  }

  print(value: unknown, node: ConfigNode | undefined, schemas: Schemas): unknown {
    if (node?.kind === 'scalar' && node.isSubstituted === true)
      return formatReferences(node.references ?? []);
    if (value === null || value === undefined || typeof value === 'boolean') return value;
    if (schemas.some(isSecret)) return value === '' ? value : SECRET;
    if (Array.isArray(value))
      return value.map((item: unknown, index) =>
        this.print(item, childOf(node, index), schemasAt(schemas, index, this.#schema)),
      );
    if (typeof value === 'object')
      return Object.fromEntries(
        Object.entries(value).map(([key, child]) => [
          this.#repeatsSecret(key) ? SECRET : key,
          this.print(child, childOf(node, key), schemasAt(schemas, key, this.#schema)),
        ]),
      );
    if (!areTyped(schemas)) return UNKNOWN;
    if (typeof value === 'number') return this.#repeatsSecret(String(value)) ? SECRET : value;
    if (typeof value !== 'string') return value;
    const masked = maskUrls(value);
    return this.#repeatsSecret(masked) ? SECRET : masked;
  }

  /** Whether a text is a secret, has one in it, or is a part of one, as a parameter of a template is. */
  #repeatsSecret(text: string): boolean {
    return this.#secrets.some(
      (secret) =>
        text === secret ||
        (secret.length >= LEAST_SHARED && text.includes(secret)) ||
        (text.length >= LEAST_SHARED && secret.includes(text)),
    );
  }
}

/** `${env:PORT}`; any surrounding text is omitted. */
function formatReferences(references: readonly string[]): string {
  return references.map((reference) => `\${${reference}}`).join(' … ');
}

function childOf(node: ConfigNode | undefined, key: string | number): ConfigNode | undefined {
  return node && nodeAt(node, [String(key)]);
}
