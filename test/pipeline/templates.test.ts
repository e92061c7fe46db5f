import { join } from 'node:path';
import t, { type Test } from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import { ConfigError, formatProblem } from '../../src/config/config-error.js';
import { parseYaml } from '../../src/config/parse-yaml.js';
import { plainValue } from '../../src/config/plain-value.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { withParameters } from '../../src/pipeline/template-parameters.js';
import { environmentOf } from '../support/config-problems.js';
import { batchOf, startEngine } from '../support/engine.js';
import { EngineComponents } from '../support/engine-components.js';
import { HandClock } from '../support/hand-clock.js';
import { settled } from '../support/scripted-exporter.js';

/** A folder with templates `a.yaml`, `b.yaml`, … and a configuration that uses them. */
function folderOf(t: Pick<Test, 'testdir'>, ...templates: readonly string[]) {
  const names = templates.map((_, index) => `${String.fromCharCode(97 + index)}.yaml`);
  const folder = t.testdir(Object.fromEntries(names.map((name, index) => [name, templates[index] ?? ''])));
  return {
    folder,
    plugins: `plugins: ${JSON.stringify(names.map((name) => join(folder, name)))}\n`,
  };
}

const PARAMETERS = `parameters:
  properties:
    word: { type: string, default: green }
    limit: { type: [string, number] }
    flag: { type: boolean }
`;
const part = (type: string) =>
  `  - ${type}: { word: "\${param.word}", limit: "\${param.limit}", text: "a \${param.word} $$5", nested: { flag: "\${param.flag}" } }\n`;

/** The configuration of each inner component. */
function recording() {
  const components = new EngineComponents();
  const configs: Record<string, Record<string, unknown>> = {};
  const factories = components.factories.map((factory) => {
    if (factory.kind === 'processor') return factory;
    return {
      ...factory,
      create: (settings: { readonly id: string; readonly config: Record<string, unknown> }) => {
        configs[settings.id] = settings.config;
        return factory.create(settings as never);
      },
    };
  }) as typeof components.factories;
  return { components, configs, factories };
}

void t.test('a template turns a chain of components into one with parameters', async (t) => {
  const { plugins } = folderOf(
    t,
    `kind: exporter\ntype: chained\n${PARAMETERS}components:\n${part('mutate')}${part('sink')}`,
    `kind: receiver\ntype: origin\n${PARAMETERS}components:\n${part('source')}${part('pass')}`,
    `kind: processor\ntype: twice\ncomponents:\n  - pass: {}\n  - mutate: {}\n`,
    `kind: extension\ntype: helper\n${PARAMETERS}components:\n${part('thing')}`,
  );
  const { components, configs, factories } = recording();
  const { daemon } = await startEngine(t, {
    factories,
    config: `${plugins}receivers: { origin: { flag: true } }
processors: { twice: {} }
exporters: { chained: { word: blue, limit: 2KiB } }
extensions: { helper: {} }
service:
  extensions: [helper]
  pipelines: { traces: { receivers: [origin], processors: [twice], exporters: [chained] } }
`,
  });
  t.match(configs['chained.sink'], {
    word: 'blue',
    limit: '2KiB',
    text: 'a blue $5',
    nested: { flag: false },
  });
  t.match(
    configs['origin.source'],
    { word: 'green', limit: '1MiB', nested: { flag: true } },
    'defaults of both',
  );
  t.ok(configs['helper.thing']);
  const started = ['helper.thing', 'chained.sink', 'chained.mutate', 'twice.mutate', 'twice.pass'];
  t.strictSame(components.events.splice(0), [
    ...started.map((id) => `start ${id}`),
    'start origin.pass',
    'start origin.source',
  ]);
  t.strictSame(await components.send('origin.source', batchOf('1')), { accepted: 1, refused: [] });
  const way = ['origin.pass', 'twice.pass', 'twice.mutate', 'chained.mutate', 'chained.sink'];
  t.strictSame(
    components.events.splice(0),
    way.map((id) => `consume ${id}`),
  );
  t.strictSame((await daemon.shutdown()).errors, []);
  t.strictSame(
    components.events,
    ['origin.source', ...way, 'helper.thing'].map((id) => `stop ${id}`),
  );
});

void t.test('a template ending in a queued exporter has its queue and changes only copies', async (t) => {
  const { plugins } = folderOf(
    t,
    `kind: exporter
type: relay
parameters: { properties: { wait: { type: string, format: jackdaw-duration, default: 5s } } }
components:
  - mutate: {}
  - queue: { queue: { batch: { max_wait: "\${param.wait}" } }, retry: { initial_interval: 1s } }
`,
  );
  const clock = new HandClock();
  let failures = 0;
  const components = new EngineComponents({
    'relay.mutate': {
      consume: async (batch, next) => {
        for (const { trace } of batch.items) trace.agent += '!';
        return (await next?.consume(batch, { receivedAt: 0 })) ?? { accepted: 0, refused: [] };
      },
    },
    'relay.queue': {
      consume: async (batch) => {
        if (failures++ === 0) throw new Error('away');
        return { accepted: batch.items.length, refused: [] };
      },
    },
  });
  await startEngine(t, {
    clock,
    factories: components.factories,
    config: `${plugins}receivers: { source: {} }
exporters: { sink: {}, relay: { wait: 7s } }
service: { pipelines: { traces: { receivers: [source], exporters: [sink, relay] } } }
`,
  });
  const batch = batchOf('1');
  await components.send('source', batch);
  clock.advance(6_999);
  t.notOk(components.events.includes('consume relay.queue'));
  clock.advance(1);
  await settled();
  clock.advance(1_500);
  await settled();
  const agents = components.batches.get('relay.queue')?.map(({ items }) => items[0]?.trace.agent);
  t.strictSame(agents, ['a!', 'a!'], 'each attempt starts fresh');
  t.equal(batch.items[0]?.trace.agent, 'a');
});

async function problemsWith(config: string): Promise<readonly string[]> {
  try {
    await prepare([{ file: 'test.yaml', text: config }], environmentOf({}), new EngineComponents().factories);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(formatProblem);
    throw error;
  }
}

const PIPELINE = `receivers: { source: {} }
exporters: { sink: {} }
service: { pipelines: { traces: { receivers: [source], processors: [mine], exporters: [sink] } } }
`;

void t.test('an invalid template reports its file and line', async (t) => {
  for (const [template, expected] of [
    [
      'kind: processer\ntype: mine\ncomponents: [{ pass: {} }]',
      /a\.yaml:1:1: error: kind: must be one of .*did you mean "processor"/,
    ],
    ['kind: processor\ntype: Mine\ncomponents: []', /a\.yaml:2:1: error: type: must be of the form/],
    [
      'kind: processor\ntype: mine\ncomponents:\n  - pas: {}',
      /a\.yaml:4:5: error: components\[0\]\.pas: there is no processor of type "pas"; did you mean "pass"/,
    ],
    ['kind: processor\ntype: mine\ncomponents:\n  - sink: {}', /there is no processor of type "sink"/],
    [
      'kind: processor\ntype: mine\ncomponents:\n  - pass: { word: "${param.wort}" }',
      /uses \$\{param\.wort\}, which is not a parameter/,
    ],
    [
      'kind: processor\ntype: mine\nparameters: { properties: { a: { type: nonsense } } }\ncomponents: [{ pass: {} }]',
      /parameters: is not a JSON Schema/,
    ],
    [
      'kind: extension\ntype: mine\ncomponents: [{ thing: {} }, { thing: {} }]',
      /an extension template needs exactly one component/,
    ],
    ['kind: processor\ntype: pass\ncomponents: [{ pass: {} }]', /There are two processors of type "pass"/],
    [
      'kind: processor\ntype: mine\nparameters: { properties: { a: { type: integer, default: x } } }\ncomponents: [{ pass: {} }]',
      /a\.yaml:3:49: error: parameters\.properties\.a\.default: must be a whole number, but is "x"/,
    ],
    [
      'kind: processor\ntype: mine\nparameters: { required: [wrd], properties: { word: {} } }\ncomponents: [{ pass: {} }]',
      /a\.yaml:3:26: error: parameters\.required\[0\]: there is no parameter "wrd"; did you mean "word"/,
    ],
    ['kind: processor\ntype: mine', /components: write components, or pipelines/],
    [
      'kind: receiver\ntype: mine\npipelines: { traces: [{ source: {} }] }',
      /only processors and exporters have pipelines/,
    ],
    ['kind: processor\ntype: mine\npipelines: { events: [{ pass: {} }] }', /"pass" is not for events/],
    [
      'kind: processor\ntype: mine\npipelines: { trace: [{ pass: {} }] }',
      /unknown key "trace"; did you mean "traces"/,
    ],
    ['kind: [', /a\.yaml:1:\d+: error: cannot be read/],
    ['- a', /the file must be a map with kind, type and components/],
  ] as const) {
    const { plugins } = folderOf(t, template);
    t.match((await problemsWith(plugins + PIPELINE)).join('\n'), expected, template);
  }
  t.match(
    (await problemsWith('plugins: [/nowhere/x.yaml]\n' + PIPELINE)).join('\n'),
    /test\.yaml:1:11: error: plugins\[0\]: .*ENOENT/,
  );
});

void t.test('invalid parameters are reported where the template is used', async (t) => {
  const { plugins } = folderOf(
    t,
    `kind: processor
type: mine
parameters: { properties: { word: { type: string }, extra: {} }, required: [word] }
components:
  - pass: { word: "\${param.word}", password: "\${param.extra}" }
`,
  );
  const use = (section: string) => problemsWith(`${plugins}${PIPELINE}processors:\n  mine: ${section}\n`);
  t.strictSame(await use('{ word: red }'), []);
  t.match(await use('{ wrod: red }'), [
    /processors\.mine\.word: is missing/,
    /processors\.mine\.wrod: unknown key/,
  ]);
  t.match(await use('{ word: yellow }'), [
    /^test\.yaml:\d+:3: error: processors\.mine: in its processor "pass" \(.*a\.yaml:5:13\): word: must be one of "red", "green", "blue"/,
  ]);
  const hidden = await use('{ word: red, extra: abc }');
  t.match(hidden, [/password: must be at least 4 characters/]);
  t.notMatch(hidden.join('\n'), /abc/);
});

void t.test('secret parameters stay secret in components', async (t) => {
  const { plugins } = folderOf(
    t,
    'kind: exporter\ntype: relay\nparameters: { properties: { key: { type: string } } }\ncomponents:\n  - otlp_http: { endpoint: "http://x", headers: { authorization: "Bearer ${param.key}" } }\n',
  );
  const text = `${plugins}receivers: { otlp: {} }
exporters: { relay: { key: very-secret } }
service: { pipelines: { logs: { receivers: [otlp], exporters: [relay] } } }
`;
  const { config } = await prepare([{ file: 'test.yaml', text }], environmentOf({}), builtinFactories);
  t.ok(config.secrets.includes('Bearer very-secret'));
});

void t.test('expands lists, maps and repetitions', (t) => {
  const { root } = parseYaml(
    `list: [a, '\${param.list...}', z]
map: { '...': '\${param.map}', k: 1 }
each:
  - { for_each: '\${param.map}', make: { name: '\${key}', value: '\${item}', cel: 'x == \${json.item}' } }
  - { for_each: '\${param.rules}', make: '\${item.a}-\${key}' }
  - { for_each: '\${param.none}', make: x }
cel: 'name in \${json.list} && team == \${json.text} && \${param.rules}'
hole: '\${{ event.type == \${json.text} }}'
field: '\${param.map.one}'
absent: '\${param.none}'
`,
    'a.yaml',
  );
  const values = {
    list: ['b', 'c'],
    map: { one: 1, two: 'it"s' },
    rules: [{ a: 'x' }, { a: 'y' }],
    text: 'a "b"',
  };
  t.strictSame(root && plainValue(withParameters(root, values), undefined), {
    list: ['a', 'b', 'c', 'z'],
    map: { one: 1, two: 'it"s', k: 1 },
    each: [
      { name: 'one', value: 1, cel: 'x == 1' },
      { name: 'two', value: 'it"s', cel: 'x == "it\\"s"' },
      'x-0',
      'y-1',
    ],
    cel: 'name in ["b","c"] && team == "a \\"b\\"" && [{"a":"x"},{"a":"y"}]',
    hole: '${{ event.type == "a \\"b\\"" }}',
    field: 1,
  });
  t.end();
});

void t.test('a template has a separate chain for each signal', async (t) => {
  const { plugins } = folderOf(
    t,
    `kind: processor
type: mine
parameters: { properties: { name: { type: string } } }
pipelines:
  traces: [{ filter: { spans: ['span.name == \${json.name}'] } }]
  logs: [{ filter: { logs: ['log.body == \${json.name}'] } }, { transform: {} }]
`,
    `kind: exporter
type: both
parameters: { properties: { wait: { type: string, default: 1s } } }
pipelines:
  events: [{ http: { url: 'https://a.example/', format: ndjson } }]
  logs: [{ http: { url: 'https://a.example/', item: log, format: ndjson, retry: { initial_interval: '\${param.wait}' } } }]
`,
  );
  const check = async (more: string) => {
    const text = `${plugins}receivers: { otlp: {}, outbox: {} }\n${more}
service:
  extensions: [sqlite]
  pipelines:
    traces: { receivers: [otlp], processors: [mine], exporters: [debug] }
    logs: { receivers: [otlp], processors: [mine], exporters: [both, debug] }
    events: { receivers: [outbox], exporters: [both] }
extensions: { sqlite: {} }
`;
    try {
      await prepare([{ file: 'test.yaml', text }], environmentOf({}), builtinFactories);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.map(formatProblem);
      throw error;
    }
  };
  t.strictSame(await check('processors: { mine: { name: x } }\nexporters: { both: {}, debug: {} }'), []);
  t.match(await check('processors: { mine: { name: x } }\nexporters: { both: { wait: 2s }, debug: {} }'), [
    /exporters\.both: all exporters of its pipelines must have the same timeout, retry, queue/,
  ]);
  t.match(await check('processors: { mine: { nam: x } }\nexporters: { both: {}, debug: {} }'), [
    /processors\.mine\.nam: unknown key "nam"; did you mean "name"/,
  ]);
});

void t.test('an invalid expression reports its position in the template', async (t) => {
  const { plugins } = folderOf(
    t,
    `kind: processor
type: mine
components:
  - filter:
      spans:
        - 'span.type == "http"'
        - 'span.nam == "x"'
`,
  );
  const text = `${plugins}receivers: { otlp: {} }
processors: { mine: {} }
exporters: { debug: {} }
service: { pipelines: { traces: { receivers: [otlp], processors: [mine], exporters: [debug] } } }
`;
  await t.rejects(prepare([{ file: 'test.yaml', text }], environmentOf({}), builtinFactories), {
    message:
      /in its processor "filter" \(.*a\.yaml:7:11\): spans\[1\]: span has no field "nam"; did you mean "name"\? \(column 6 of the expression\)/,
  });
});
