import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { builtinFactories } from '../src/builtin.js';
import {
  AuthSchema,
  PluginsSchema,
  SecretsSchema,
  ServiceSchema,
  SmtpSchema,
} from '../src/config/file-schema.js';
import { projectFolder } from './support/project-file.js';

const FILE = join(projectFolder(), 'test/testdata/texts.txt');
const REWRITE = 'npx tsc -p tsconfig.json && JACKDAW_TEST_TEXTS=write node dist/test/main.js all-texts';

const SQL = [
  /^(?:alter|create|insert|select|attach|drop)\b.*\b(?:table|index|into|from|as|database|pg_notify)\b/,
  /^[\w."]+ (?:as|is|desc|IN|DESC|NOT) /,
  /^[\w."]+ as \w+$/,
  /\b(?:ALTER|CREATE|INSERT|VALUES|SELECT|WHERE|FROM|PRAGMA|COALESCE|DESC|TABLE|TYPE|WITH|JOIN|CASE|THEN|AS|AND|OR|IN|IS|ON|BY|OVER|NULL|LIMIT|LIKE)\b/,
  /\b[a-z]\w*[A-Z_]\w*\((?!\))|\bcoalesce\(| (?:[<>]?=|[<>]) |::|->/,
];

/** One line of the file: the position of a text and the text. */
type Entry = readonly [place: string, text: string];

/** The part of a JSON Schema that this test reads. */
interface Schema {
  readonly description?: string;
  readonly patternErrorMessage?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

void t.test('texts.txt lists every user-visible text', (t) => {
  const found = print();
  if (process.env['JACKDAW_TEST_TEXTS'] === 'write') writeFileSync(FILE, found);
  t.equal(found, readFileSync(FILE, 'utf8'), `after a changed text, run: ${REWRITE}`);
  t.end();
});

function print(): string {
  const keys = [
    ...new Map(
      configurationKeys()
        .toReversed()
        .map((entry) => [entry[1], entry]),
    ).values(),
  ];
  const { metrics, others } = textsOfSource();
  const listed = new Set([...keys, ...metrics].map(([, text]) => text));
  return [
    `Texts that users read, for review. To rewrite this file: ${REWRITE}`,
    ...chapter('Configuration keys', keys),
    ...chapter('Metrics', metrics),
    ...chapter(
      'Other texts, by file',
      others.filter(([, text]) => !listed.has(text)),
    ),
    '',
  ].join('\n');
}

function chapter(title: string, entries: readonly Entry[]): readonly string[] {
  const lines = new Set(entries.map(([place, text]) => `${place}: ${text.replaceAll(/\s+/g, ' ').trim()}`));
  return ['', `# ${title}`, '', ...[...lines].sort()];
}

/** Components share schemas, such as those of queues: each text is listed once, at its first position. */
function configurationKeys(): readonly Entry[] {
  return [
    ...builtinFactories.flatMap(({ kind, type, description, configSchema }) =>
      described(`${kind}s.${type}`, { ...configSchema, description }),
    ),
    ...described('auth', AuthSchema),
    ...described('plugins', PluginsSchema),
    ...described('secrets', SecretsSchema),
    ...described('smtp', SmtpSchema),
    ...described('service', ServiceSchema),
  ];
}

/** The description and error message of a schema and of all nested schemas. */
function described(path: string, schema: object): readonly Entry[] {
  const { description, patternErrorMessage, properties, patternProperties, items, anyOf } = schema as Schema;
  return [
    ...(description === undefined ? [] : [[path, description] as const]),
    ...(patternErrorMessage === undefined ? [] : [[`${path} (error)`, patternErrorMessage] as const]),
    ...Object.entries(properties ?? {}).flatMap(([key, child]) => described(`${path}.${key}`, child)),
    ...Object.values(patternProperties ?? {}).flatMap((child) => described(`${path}.*`, child)),
    ...(items === undefined ? [] : described(`${path}[]`, items)),
    ...(anyOf ?? []).flatMap((child) => described(path, child)),
  ];
}

/** Every literal that reads like a sentence, except in the pages, the demo data and the files written by `plugin new`. */
function textsOfSource() {
  const source = join(projectFolder(), 'src');
  const metrics: Entry[] = [];
  const others: Entry[] = [];
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const place = file.split(sep).join('/');
    if (!place.endsWith('.ts') || /^(ui|cli\/demo|cli\/plugin-new)\//.test(place)) continue;
    const permit = (node: ts.Node): void => {
      if (ts.isTaggedTemplateExpression(node)) return;
      const text = textOf(node);
      if (text === undefined) return node.forEachChild(permit);
      if (!isProse(text)) return;
      const metric = metricOf(node);
      if (metric === undefined) others.push([place, text]);
      else metrics.push([metric, text]);
    };
    permit(
      ts.createSourceFile(place, readFileSync(join(source, file), 'utf8'), ts.ScriptTarget.Latest, true),
    );
  }
  return { metrics, others };
}

/** The text of a literal or a concatenation, with `{…}` for expressions. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `{…}${literal.text}`).join('');
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined && right === undefined ? undefined : (left ?? '{…}') + (right ?? '{…}');
}

/** At least three words that are not SQL. */
function isProse(text: string): boolean {
  return /[a-z]{2,},? \S+ \S/i.test(text) && !SQL.some((form) => form.test(text));
}

/** Name of the metric whose `description` this node is. */
function metricOf(node: ts.Node): string | undefined {
  const call = ts.isPropertyAssignment(node.parent) ? node.parent.parent.parent : undefined;
  if (call === undefined || !ts.isCallExpression(call)) return undefined;
  if (!/\.(counter|gauge|histogram|observedCounter)$/.test(call.expression.getText())) return undefined;
  return call.arguments.map(textOf).find((text) => text !== undefined) ?? '{…}';
}
