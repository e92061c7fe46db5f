import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { startListener } from '../support/http-listener.js';

/** Opens a listener in a process that has no uWebSockets.js. @returns what it logged, or the error. */
async function withoutUws(engine: string): Promise<string> {
  const hook = `export async function resolve(name, context, next) {
    if (name === 'uWebSockets.js') throw new Error("Cannot find package 'uWebSockets.js'");
    return next(name, context);
  }`;
  const script = `
    import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(process.argv[4]));
    const { createListener } = await import(process.argv[1]);
    const { componentSettings } = await import(process.argv[2]);
    const settings = componentSettings('test');
    const listener = createListener('127.0.0.1:0', { ...settings, engine: process.argv[3] });
    await listener.open().then(() => console.log(settings.logger.lines.join()), (error) => console.log(error.message));
    await listener.close(AbortSignal.abort());
  `;
  const modules = ['../../src/http/listener.js', '../support/component-settings.js'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, ...modules, engine, hook], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(child, 'close');
  return output;
}

void t.test('auto takes uWebSockets.js where it can be loaded, and says so', async (t) => {
  const { logger } = await startListener(t, 'auto', []);
  t.match(logger.lines.join(), /info HTTP is served by uWebSockets\.js\. engine="uws"/);
});

void t.test('auto takes node:http where it cannot, and says why', async (t) => {
  t.match(
    await withoutUws('auto'),
    /served by node:http\. engine="node" reason="uWebSockets\.js cannot be loaded: Cannot find/,
  );
});

void t.test('who asks for uWebSockets.js by name is told how to get it', async (t) => {
  t.match(
    await withoutUws('uws'),
    /127\.0\.0\.1:0: the HTTP engine uWebSockets\.js cannot be loaded: install it/,
  );
});
