import { parseDocument, isScalar } from 'yaml';
import type { Problem } from './config-error.js';
import type { ConfigNode, ScalarNode } from './config-node.js';
import { partsOfText } from './holes.js';

/** The source of `${env:…}` and `${file:…}`. */
export interface Environment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The text of a file. @throws Error if it cannot be read. */
  readFile(path: string): string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** `$$`, or `${` up to the next `}`, or a `${` that is never closed. */
const TOKEN = /\$\$|\$\{([^}]*)(\}?)/g;

/**
 * Replaces `${env:NAME}`, `${env:NAME:-default}` and `${file:path}` in every scalar; `$$` becomes `$`. Expressions, `${{ … }}`, are
 * not changed: their consumer evaluates them.
 */
export function substitute(
  node: ConfigNode,
  environment: Environment,
  path: readonly string[] = [],
): { readonly node: ConfigNode; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const into = (child: ConfigNode, key: string): ConfigNode => {
    const result = substitute(child, environment, [...path, key]);
    problems.push(...result.problems);
    return result.node;
  };
  switch (node.kind) {
    case 'map': {
      const entries = [...node.entries].map(
        ([key, entry]) => [key, { ...entry, node: into(entry.node, key) }] as const,
      );
      return { node: { ...node, entries: new Map(entries) }, problems };
    }
    case 'list':
      return { node: { ...node, items: node.items.map((item, i) => into(item, String(i))) }, problems };
    case 'scalar': {
      const fail = (message: string) =>
        problems.push({ severity: 'error', position: node.position, path, message });
      return { node: substituteScalar(node, environment, fail), problems };
    }
  }
}

function substituteScalar(
  node: ScalarNode,
  environment: Environment,
  fail: (message: string) => void,
): ScalarNode {
  if (typeof node.value !== 'string' || !node.value.includes('$')) return node;
  const written = node.value;
  const parts = partsOfText(written).map(({ isHole, start, end }) => ({
    isHole,
    text: written.slice(start, end),
  }));
  const tokens = parts
    .flatMap(({ isHole, text }) => (isHole ? [] : [...text.matchAll(TOKEN)]))
    .filter(([token]) => token !== '$$');
  const put = (token: string, body: string | undefined, close: string | undefined) => {
    if (token === '$$') return '$';
    return close === '}' ? resolve(body ?? '', environment, fail) : unclosed(token, fail);
  };
  const text = parts.map((part) => (part.isHole ? part.text : part.text.replace(TOKEN, put))).join('');
  if (tokens.length === 0) return { ...node, value: text };
  const isWhole = tokens[0]?.[0] === node.value;
  const came = { isSubstituted: true, references: tokens.map(([, body = '']) => referenceIn(body)) };
  return isWhole ? { ...node, value: readScalar(text), text, ...came } : { ...node, value: text, ...came };
}

/** A default may be as secret as the value that it replaces. */
function referenceIn(body: string): string {
  return body.startsWith('env:') ? body.replace(/:-[^]*$/, '') : body;
}

function unclosed(token: string, fail: (message: string) => void): string {
  fail('"${" without a closing "}"; write $$ for a dollar sign');
  return token;
}

function resolve(body: string, environment: Environment, fail: (message: string) => void): string {
  const colon = body.indexOf(':');
  const scheme = body.slice(0, Math.max(colon, 0));
  const rest = body.slice(colon + 1);
  if (scheme === 'env') return readVariable(rest, environment, fail);
  if (scheme === 'file') {
    try {
      return environment.readFile(rest).replace(/\r?\n$/, '');
    } catch (error) {
      fail(`\${file:${rest}} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      return '';
    }
  }
  const hint = NAME.test(body) ? `; did you mean "\${env:${body}}"?` : '';
  fail(`"\${${body}}" is not a substitution (\${env:NAME}, \${env:NAME:-default}, \${file:path})${hint}`);
  return '';
}

function readVariable(text: string, environment: Environment, fail: (message: string) => void): string {
  const split = text.indexOf(':-');
  const name = split < 0 ? text : text.slice(0, split);
  if (!NAME.test(name)) {
    fail(`"${name}" cannot be the name of an environment variable`);
    return '';
  }
  const value = environment.variables[name];
  // As in a shell, `:-` also replaces an empty value.
  if (split >= 0 && (value === undefined || value === '')) return text.slice(split + 2);
  if (value === undefined)
    fail(`the environment variable ${name} is not set; set it, or write \${env:${name}:-default}`);
  return value ?? '';
}

/** Reads a text as YAML would read it as a plain scalar; other values stay text. */
function readScalar(text: string): ScalarNode['value'] {
  if (text === '') return null;
  const { contents, errors } = parseDocument(text);
  if (errors.length > 0 || !isScalar(contents) || contents.type !== 'PLAIN' || contents.source !== text)
    return text;
  const { value } = contents;
  return value === null || typeof value === 'number' || typeof value === 'boolean' ? value : text;
}
