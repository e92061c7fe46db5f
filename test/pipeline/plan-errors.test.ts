import t from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import type { ConfigError } from '../../src/config/config-error.js';
import { prepare } from '../../src/pipeline/prepare.js';
import { environmentOf, PIPELINE, prepareTexts, problemsOf } from '../support/config-problems.js';

void t.test('referenced extensions must run', async (t) => {
  const text = (helper: string, extensions: string) =>
    `receivers: { source: { helper: ${helper} } }
exporters: { sink: {} }
extensions: { thing: {}, thing/b: {} }
service:
  extensions: ${extensions}
  pipelines: { traces: { receivers: [source], exporters: [sink] } }
`;
  t.strictSame(await problemsOf([text('thing', '[thing]')]), []);
  t.strictSame(await problemsOf([text('thing/b', '[thing]')]), [
    'a.yaml:1:24: error: receivers.source.helper: extension "thing/b" does not run; add it to service.extensions',
  ]);
  t.strictSame(await problemsOf([text('thinq', '[thing]')]), [
    'a.yaml:1:24: error: receivers.source.helper: there is no extension "thinq" in service.extensions; did you mean "thing"?',
  ]);
});

void t.test('extensions start after those they reference, and a cycle is an error', async (t) => {
  const text = (a: string, b: string) =>
    `${PIPELINE.replace('[thing]', '[thing/a, thing/b, thing]')}extensions: { thing/a: ${a}, thing/b: ${b}, thing: {} }\n`;
  const { plan } = await prepareTexts([text('{ helper: thing/b }', '{ helper: thing }')]);
  t.strictSame(
    plan.extensions.map(({ id }) => id),
    ['thing', 'thing/b', 'thing/a'],
  );
  t.match(await problemsOf([text('{ helper: thing/b }', '{ helper: thing/a }')]), [
    /service\.extensions: these extensions depend on each other in a circle: thing\/a → thing\/b → thing\/a/,
  ]);
});

void t.test('an unused component is a warning', async (t) => {
  const { warnings } = await prepareTexts([
    `${PIPELINE}processors: { pass: {} }\nextensions: { thing: {}, thing/b: {} }\n`,
  ]);
  t.match(
    warnings.map(({ severity, message, path }) => `${severity} ${path.join('.')} ${message}`),
    [
      'warning processors.pass is not used: no pipeline lists it',
      'warning extensions.thing/b is not used: service.extensions does not list it',
    ],
  );
});

void t.test('sharing a port or file is an error, unless both name the listener alike', async (t) => {
  const text = (a: string, b: string, metrics = 'null') =>
    `${PIPELINE.replace('[thing]', '[thing, thing/b]')}  telemetry: { metrics: { endpoint: ${metrics} } }
extensions:
  thing: ${a}
  thing/b: ${b}
`;
  t.strictSame(await problemsOf([text('{ endpoint: "127.0.0.1:1" }', '{ endpoint: "127.0.0.1:1" }')]), []);
  t.strictSame(await problemsOf([text('{ endpoint: "127.0.0.1:0" }', '{ endpoint: "localhost:0" }')]), []);
  t.strictSame(await problemsOf([text('{ endpoint: "127.0.0.1:1" }', '{ endpoint: ":1" }')]), [
    'a.yaml:11:14: error: extensions.thing/b.endpoint: port of :1 also belongs to extension "thing"; change one of them',
  ]);
  t.match(await problemsOf([text('{ endpoint: "127.0.0.1:1" }', '{ endpoint: "localhost:1" }')]), [
    /also belongs/,
  ]);
  t.match(await problemsOf([text('{ endpoint: "127.0.0.1:1" }', '{}', '127.0.0.1:1')]), [
    /service\.telemetry\.metrics\.endpoint: port of 127\.0\.0\.1:1 also belongs to extension "thing"/,
  ]);
  t.match(await problemsOf([text('{ file: /x/y }', '{ file: /x/y }')]), [/file \/x\/y also belongs/]);
});

void t.test('without authentication listeners must be on loopback', async (t) => {
  const text = (endpoint: string) =>
    `${PIPELINE}extensions: { thing: { endpoint: "${endpoint}" } }\nauth: { enabled: false }\n`;
  t.strictSame(await problemsOf([text('127.0.0.1:1')]), []);
  for (const open of ['0.0.0.0:1', ':1', '10.1.2.3:1', '[::]:1'])
    t.match(
      await problemsOf([text(open)]),
      [/is reachable from other machines while auth\.enabled is false/],
      open,
    );
});

void t.test('a connector and its pipelines name each other, without a circle', async (t) => {
  const text = (pipelines: string, targets: string) =>
    `receivers: { otlp: {}, outbox: {} }
exporters:
  debug: {}
  evaluate: { pipelines: [logs] }
  route: { routes: [{ condition: 'true', pipelines: ${targets} }] }
auth: { enabled: false }
service:
  pipelines: ${pipelines}
`;
  const first = 'traces: { receivers: [otlp], exporters: [route] }';
  const problems = async (pipelines: string, targets: string) =>
    prepare(
      [{ file: 'a.yaml', text: text(`{ ${pipelines} }`, targets) }],
      environmentOf({}),
      builtinFactories,
    ).then(
      () => [],
      (error: unknown) =>
        (error as ConfigError).problems.map(({ path, message }) => `${path.join('.')}: ${message}`),
    );
  const behind = 'traces/b: { receivers: [route], exporters: [debug] }';
  t.strictSame(await problems(`${first}, ${behind}`, '[traces/b]'), []);
  t.strictSame(await problems(first, '[traces/b]'), [
    'exporters.route.routes.0.pipelines.0: there is no pipeline "traces/b"; did you mean "traces"?',
  ]);
  t.strictSame(
    await problems(`${first}, traces/b: { receivers: [otlp], exporters: [debug] }`, '[traces/b]'),
    [
      'exporters.route.routes.0.pipelines.0: pipeline "traces/b" does not list "route": add it to its receivers',
    ],
  );
  t.strictSame(
    await problems(`${first}, ${behind}, traces/c: { receivers: [route], exporters: [debug] }`, '[traces/b]'),
    [
      'service.pipelines.traces/c.receivers: "route" does not send to this pipeline: add "traces/c" to exporters.route',
    ],
  );
  t.strictSame(
    await problems(`${first}, traces/b: { receivers: [route], exporters: [route] }`, '[traces/b]'),
    ['service.pipelines.traces/b.exporters: these pipelines pass items on in a circle: traces/b → traces/b'],
  );
  t.strictSame(
    await problems(`${first}, ${behind}, logs: { receivers: [otlp], exporters: [route] }`, '[traces/b]'),
    ['service.pipelines.logs.exporters: "route" has no pipelines for logs: name one in exporters.route'],
  );
  t.strictSame(await problems(`traces: { receivers: [otlp], exporters: [debug] }, ${behind}`, '[traces/b]'), [
    'service.pipelines.traces/b.receivers: "route" receives no traces: list it under exporters in a pipeline for traces',
  ]);
  // A connector that creates items of another signal.
  const evaluate = async (pipelines: string) => {
    const all = await problems(pipelines, '[traces/b]');
    return all.filter((problem) => problem.includes('evaluate') && !problem.includes('extension'));
  };
  const events = 'events: { receivers: [outbox], exporters: [evaluate] }';
  const scores = 'logs: { receivers: [evaluate], exporters: [debug] }';
  t.strictSame(await evaluate(`${events}, ${scores}`), []);
  t.strictSame(await evaluate(events), [
    'exporters.evaluate.pipelines.0: there is no pipeline "logs"; known here: "events"',
  ]);
  t.strictSame(await evaluate(scores), [
    'service.pipelines.logs.receivers: "evaluate" receives no events: list it under exporters in a pipeline for events',
  ]);
});
