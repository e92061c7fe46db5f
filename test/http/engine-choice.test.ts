import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import type { EngineChoice } from '../../src/http/engine-choice.js';
import { send, startListener } from '../support/http-listener.js';
import { RawConnection } from '../support/http-socket.js';

const HOOK = `export async function resolve(name, context, next) {
  if (name === 'uWebSockets.js') throw new Error("Cannot find package 'uWebSockets.js'");
  return next(name, context);
}`;

const SCRIPTS = {
  /** Opens a listener. */
  listen: `
    const [listenerModule, settingsModule] = modules;
    const { createListener } = await import(listenerModule);
    const { componentSettings } = await import(settingsModule);
    const listener = createListener('127.0.0.1:0', { ...componentSettings('test'), engine });
    await listener.open().then(() => console.log('open'), (error) => console.log(error.message));
    await listener.close(AbortSignal.abort());
  `,
  /** Validates a configuration as every start does. */
  validate: `
    const [, , prepareModule, builtinModule, configModule] = modules;
    const { prepare } = await import(prepareModule);
    const { builtinFactories } = await import(builtinModule);
    const { DEFAULT_CONFIG } = await import(configModule);
    const overlay = { file: 'jackdaw.yaml', text: 'service: { http: { engine: ' + engine + ' } }' };
    await prepare([DEFAULT_CONFIG, overlay], { variables: {} }, builtinFactories)
      .then(() => console.log('jackdaw.yaml: valid'), (error) => console.log(error.message));
  `,
};

/** The output of a process without uWebSockets.js. */
async function withoutUws(engine: EngineChoice, script: keyof typeof SCRIPTS = 'listen'): Promise<string> {
  const modules = [
    '../../src/http/listener.js',
    '../support/component-settings.js',
    '../../src/pipeline/prepare.js',
    '../../src/builtin.js',
    '../../src/cli/default-config.js',
  ].map((path) => new URL(path, import.meta.url).href);
  const program = `
    import { register } from 'node:module';
    const [engine, hook, ...modules] = process.argv.slice(1);
    register('data:text/javascript,' + encodeURIComponent(hook));
    ${SCRIPTS[script]}
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, engine, HOOK, ...modules], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(child, 'close');
  return output;
}

void t.test('uses node:http by default, even if uWebSockets.js is installed', async (t) => {
  const { url, port } = await startListener(t, undefined, []);
  t.notOk((await send(url)).headers['keep-alive']?.includes('timeout=10'), 'header of uWebSockets.js');
  const connection = new RawConnection(port);
  connection.write('GET / HTTP/1.0\r\n\r\n');
  t.match(await connection.closed(), /^HTTP\/1\.1 404/);
});

void t.test('node:http works without uWebSockets.js', async (t) => {
  t.match(await withoutUws('node'), /open/);
});

void t.test('selecting a missing uWebSockets.js explains how to install it', async (t) => {
  t.match(
    await withoutUws('uws'),
    /127\.0\.0\.1:0: uWebSockets\.js cannot be loaded \(Cannot find package 'uWebSockets\.js'\); install it/,
  );
});

void t.test('validate reports a missing engine at its position', async (t) => {
  t.match(
    await withoutUws('uws', 'validate'),
    /jackdaw\.yaml:1:\d+: error: service\.http\.engine: uWebSockets\.js cannot be loaded .*; install it .*, or set service\.http\.engine to node/,
  );
  t.match(await withoutUws('node', 'validate'), /jackdaw\.yaml: valid/);
});
