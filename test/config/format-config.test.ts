import { Type, type TObject } from 'typebox';
import t from 'tap';
import { parse } from 'yaml';
import { builtinFactories } from '../../src/builtin.js';
import type { ExtensionFactory, Factory } from '../../src/component/factory.js';
import type { ConfigNode, MapNode } from '../../src/config/config-node.js';
import { substitute } from '../../src/config/environment.js';
import { AuthSchema, SecretsSchema, ServiceSchema, SmtpSchema } from '../../src/config/file-schema.js';
import { parseYaml } from '../../src/config/parse-yaml.js';
import { plainValue, secretsIn, type JsonSchema } from '../../src/config/plain-value.js';
import { formatConfig } from '../../src/config/format-config.js';
import { secret, section, TEMPLATE_FORMAT } from '../../src/config/schema.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf, PIPELINE, prepareTexts } from '../support/config-problems.js';
import { EngineComponents } from '../support/engine-components.js';

const CANARY = 'C4N4RY-in-the-mine';
const OPEN = 'in the open';

void t.test('prints the effective configuration with defaults, merged from all files', async (t) => {
  const { config } = await prepareTexts(
    [`${PIPELINE}extensions: { thing: { word: green } }\n`, 'extensions: { thing: { count: 7 } }\n'],
    {},
  );
  const printed = config.print();
  t.match(printed, /^# The effective configuration/);
  const value = parse(printed) as Record<string, Record<string, unknown>>;
  t.match(value['extensions'], {
    thing: { word: 'green', count: 7, wait: '5s', limit: '1MiB', nested: { flag: false } },
  });
  t.match(value['service'], { extensions: ['thing'], shutdown_timeout: '25s' });
  t.match(value['auth'], { enabled: true, bootstrap_email: 'admin@localhost' });
  t.strictSame(Object.keys(value).slice(-2), ['extensions', 'service']);
});

void t.test('names the source of every substituted value', async (t) => {
  const { config } = await prepareTexts(
    [
      `${PIPELINE}extensions:
  thing:
    text: "before-${CANARY} \${env:A} \${file:/run/b}"
    password: "\${env:A}"
    count: "\${env:COUNT}"
    word: "\${env:NONE:-green}"
    file: "\${env:NONE:-${CANARY}}"
`,
    ],
    { variables: { A: CANARY, COUNT: '7' }, files: { '/run/b': CANARY } },
  );
  const printed = config.print();
  t.notMatch(printed, CANARY);
  t.match((parse(printed) as { extensions: object }).extensions, {
    thing: {
      text: '${env:A} … ${file:/run/b}',
      password: '${env:A}',
      count: '${env:COUNT}',
      word: '${env:NONE}',
      file: '${env:NONE}',
    },
  });
});

/** Schemas as plugins may write them: each contains a text marked as secret and an open one. */
const SHAPES: Readonly<Record<string, [schema: object, value: unknown]>> = {
  plain: [secret({ description: '' }), CANARY],
  list: [Type.Array(secret({ description: '' })), [CANARY, CANARY]],
  record: [Type.Record(Type.String(), secret({ description: '' })), { a: CANARY }],
  additional: [{ type: 'object', additionalProperties: secret({ description: '' }) }, { a: CANARY }],
  tuple: [{ type: 'array', items: [Type.String(), secret({ description: '' })] }, [OPEN, CANARY]],
  prefix: [{ type: 'array', prefixItems: [Type.String(), secret({ description: '' })] }, [OPEN, CANARY]],
  anyOf: [Type.Union([Type.Integer(), Type.Object({ key: secret({ description: '' }) })]), { key: CANARY }],
  oneOf: [{ oneOf: [{ type: 'null' }, secret({ description: '' })] }, CANARY],
  allOf: [{ allOf: [{ type: 'string' }, secret({ description: '' })] }, CANARY],
  nested: [{ allOf: [{ anyOf: [{ allOf: [secret({ description: '' })] }] }] }, CANARY],
  reference: [{ $ref: '#/$defs/password' }, CANARY],
  conditional: [{ if: { type: 'string' }, then: secret({ description: '' }) }, CANARY],
  number: [{ type: 'integer', format: 'jackdaw-secret' }, 271828182],
  map: [{ type: 'object', format: 'jackdaw-secret' }, { [CANARY]: CANARY }],
  unknown: [{}, { deep: [CANARY] }],
  anything: [
    { type: 'object', additionalProperties: true },
    { deep: CANARY, count: 271828182 },
  ],
};

void t.test('a schema can mark secrets in every form', async (t) => {
  for (const [name, [schema, value]] of Object.entries(SHAPES)) {
    const configSchema = {
      ...section({ value: Type.Unsafe({ ...schema }), open: Type.String() }),
      $defs: { password: secret({ description: '' }) },
    };
    const factory: ExtensionFactory = {
      kind: 'extension',
      type: 'foreign',
      description: 'Foreign.',
      stability: 'alpha',
      configSchema: configSchema as unknown as TObject,
      create: () => ({}),
    };
    const text = `${PIPELINE.replace('[thing]', '[foreign]')}extensions: { foreign: ${JSON.stringify({ value, open: OPEN })} }\n`;
    const { config } = await prepare([{ file: 'a.yaml', text }], environmentOf({}), [
      ...new EngineComponents().factories,
      factory,
    ]);
    const printed = config.print();
    t.notMatch(printed, CANARY, name);
    t.notMatch(printed, '271828182', name);
    t.match(printed, `open: ${OPEN}`, name);
    const isMarked = typeof value === 'string' || JSON.stringify(schema).includes('"writeOnly"');
    if (isMarked) t.ok(config.secrets.includes(CANARY), `${name} is not logged either`);
  }
});

void t.test('secrets of a component are removed from its section, completely and in parts', async (t) => {
  const factory = {
    kind: 'extension',
    type: 'foreign',
    description: 'Foreign.',
    stability: 'alpha',
    configSchema: section({
      url: Type.String(),
      part: Type.String(),
      labels: Type.Record(Type.String(), Type.String()),
    }),
    secrets: () => [CANARY],
    create: () => ({}),
  } satisfies ExtensionFactory;
  const written = {
    url: `https://user:${CANARY}@example.com`,
    part: CANARY.slice(3),
    labels: { [CANARY]: OPEN },
  };
  const text = `${PIPELINE.replace('[thing]', '[foreign]')}extensions: { foreign: ${JSON.stringify(written)} }\n`;
  const { config } = await prepare([{ file: 'a.yaml', text }], environmentOf({}), [
    ...new EngineComponents().factories,
    factory,
  ]);
  t.notMatch(config.print(), CANARY.slice(3));
});

/** A value for every key of a schema, with a unique text in every text field. */
function filled(schema: JsonSchema, text: (isSecret: boolean) => string): unknown {
  if (schema.format === TEMPLATE_FORMAT) return { a: text(false), b: [text(false)] };
  const [alternative] = schema.anyOf ?? schema.oneOf ?? [];
  if (alternative) return filled(alternative, text);
  const type = [schema.type].flat()[0];
  if (type === 'object') {
    const own = Object.entries(schema.properties ?? {});
    const more = Object.values(schema.patternProperties ?? {}).map((child): [string, JsonSchema] => [
      'any',
      child,
    ]);
    return Object.fromEntries([...own, ...more].map(([key, child]) => [key, filled(child, text)]));
  }
  if (type === 'array' && schema.items !== undefined && !Array.isArray(schema.items))
    return [filled(schema.items as JsonSchema, text)];
  return text(schema.format === 'jackdaw-secret');
}

function formatFilled(schema: TObject, text: (isSecret: boolean) => string): string {
  const variables = { CANARY };
  const { root } = parseYaml(JSON.stringify({ part: filled(schema, text) }), 'a.yaml');
  const { node } = substitute(
    root as ConfigNode,
    environmentOf({ variables, files: { '/run/canary': CANARY } }),
  );
  const value = plainValue((node as MapNode).entries.get('part')?.node as ConfigNode, schema);
  const secrets = secretsIn(value, schema);
  return formatConfig(node as MapNode, [{ path: ['part'], value, schema, secrets }]);
}

const OWN = { auth: AuthSchema, secrets: SecretsSchema, smtp: SmtpSchema, service: ServiceSchema };

void t.test('no position of any component shows a secret or a substituted value', async (t) => {
  const all = [
    ...Object.entries(OWN),
    ...builtinFactories.map(
      ({ kind, type, configSchema }: Factory) => [`${kind} ${type}`, configSchema] as const,
    ),
  ];
  let secrets = 0;
  for (const [name, schema] of all) {
    const count = (isSecret: boolean): boolean => {
      if (isSecret) secrets += 1;
      return isSecret;
    };
    t.notMatch(
      formatFilled(schema, (isSecret) => (count(isSecret) ? CANARY : OPEN)),
      CANARY,
      name,
    );
    for (const reference of ['${env:CANARY}', `x \${file:/run/canary} y`, `\${env:NONE:-${CANARY}}`])
      t.notMatch(
        formatFilled(schema, () => reference),
        CANARY,
        `${name} with ${reference}`,
      );
    t.notMatch(
      formatFilled(schema, () => OPEN),
      'the schema does not say',
      `${name} labels each value`,
    );
  }
  t.ok(secrets >= 8, `${secrets} places for secrets`);
});
