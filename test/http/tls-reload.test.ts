import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { createListener } from '../../src/http/listener.js';
import { TLS_RELOAD_MS } from '../../src/http/tls-reload.js';
import { componentSettings } from '../support/component-settings.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/http-certificate.js';
import { ENGINES, startListener, type TestListener } from '../support/http-listener.js';
import { until } from '../support/until.js';
import { RECEIVER_KEY, VALID } from '../support/webhook-certificates.js';

const ROUTE: Route = { method: 'GET', path: '/', handle: () => ({ status: 200, body: 'answered' }) };

/** The certificate subject on a new connection. */
async function shownBy(port: number, options: ConnectionOptions = {}): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

/** A whole request; rejects if the connection fails at any point. */
function get(port: number, options: ConnectionOptions & { readonly agent?: Agent } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, rejectUnauthorized: false, agent: false, ...options },
      (response) => {
        let text = '';
        response.on('data', (piece: Buffer) => (text += piece.toString()));
        response.on('error', reject);
        response.on('end', () => {
          resolve(text);
        });
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

/** Advances the clock check by check until the log has a line. */
async function untilLogged(
  { clock, logger }: Pick<TestListener, 'clock' | 'logger'>,
  line: RegExp,
): Promise<void> {
  await until(`the log has ${String(line)}`, () => {
    clock.advance(TLS_RELOAD_MS);
    return logger.lines.some((written) => line.test(written));
  });
}

void t.test('serves a certificate replaced the way Kubernetes does it', async (t) => {
  const folder = t.testdir({
    v1: { 'tls.crt': TEST_CERTIFICATE, 'tls.key': TEST_KEY },
    v2: { 'tls.crt': VALID, 'tls.key': RECEIVER_KEY },
  });
  symlinkSync('v1', join(folder, '..data'));
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(folder, name));
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const service = await startListener(t, 'node', [ROUTE], { tls });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => {
    agent.destroy();
  });
  t.equal(await get(service.port, { agent }), 'answered');
  t.equal(await shownBy(service.port), 'localhost');

  symlinkSync('v2', join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  await untilLogged(service, /^info Reloaded the certificate.*tls\.crt.*CN=hook\.test.*valid_to=/);
  t.equal(await shownBy(service.port), 'hook.test');
  t.equal(await get(service.port, { agent }), 'answered', 'the open connection survives');
  const expiry = Date.parse(new X509Certificate(VALID).validTo) / 1000;
  t.equal(await service.metric('tls_certificate_expiry_timestamp_seconds'), expiry, 'the new certificate');
});

void t.test('keeps the old pair if the new one does not match, and warns once', async (t) => {
  const folder = t.testdir({ 'tls.crt': TEST_CERTIFICATE, 'tls.key': TEST_KEY });
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const service = await startListener(t, 'node', [ROUTE], { tls });
  const warnings = (): readonly string[] => service.logger.lines.filter((line) => line.startsWith('warn'));

  writeFileSync(tls.certFile, VALID);
  await untilLogged(
    service,
    /^warn .*keeping the old certificate.*tls\.key.*does not belong to the certificate/,
  );
  t.equal(await shownBy(service.port), 'localhost');
  writeFileSync(tls.keyFile, '');
  await untilLogged(service, /^warn .*contains no private key/);
  t.equal(await shownBy(service.port), 'localhost');
  t.equal(warnings().length, 2);

  writeFileSync(tls.keyFile, RECEIVER_KEY);
  await untilLogged(service, /^info Reloaded the certificate/);
  t.equal(await shownBy(service.port), 'hook.test');
  t.equal(warnings().length, 2, 'not repeated at each check');
});

void t.test('uws: cannot reload and says so', async (t) => {
  const folder = t.testdir({ 'tls.crt': TEST_CERTIFICATE, 'tls.key': TEST_KEY });
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const service = await startListener(t, 'uws', [ROUTE], { tls });
  writeFileSync(tls.certFile, VALID);
  writeFileSync(tls.keyFile, RECEIVER_KEY);
  await untilLogged(service, /^warn .*cannot change the certificate of an open port; restart the daemon/);
  t.equal(await shownBy(service.port), 'localhost');
});

void t.test('requires client certificates of a CA that can be reloaded', async (t) => {
  const folder = t.testdir({ 'ca.crt': TEST_CERTIFICATE, 'tls.crt': VALID, 'tls.key': RECEIVER_KEY });
  const clientCaFile = join(folder, 'ca.crt');
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key'), clientCaFile };
  const service = await startListener(t, 'node', [ROUTE], { tls });
  const { port } = service;
  const good = { cert: TEST_CERTIFICATE, key: TEST_KEY };
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    t.equal(await get(port, { ...good, maxVersion }), 'answered', maxVersion);
    await t.rejects(get(port, { maxVersion }), `${maxVersion}, without a certificate`);
    await t.rejects(
      get(port, { cert: VALID, key: RECEIVER_KEY, maxVersion }),
      `${maxVersion}, of another CA`,
    );
  }
  mkdirSync(join(folder, 'new'));
  writeFileSync(join(folder, 'new', 'ca.crt'), VALID);
  renameSync(join(folder, 'new', 'ca.crt'), clientCaFile);
  await untilLogged(service, /^info Reloaded the certificate/);
  await t.rejects(get(port, good), 'no longer signed by the CA');
});

void t.test('the minimum TLS version can be raised', async (t) => {
  const folder = t.testdir({ 'tls.crt': TEST_CERTIFICATE, 'tls.key': TEST_KEY });
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const usual = await startListener(t, 'node', [ROUTE], { tls: files });
  t.equal(await get(usual.port, { maxVersion: 'TLSv1.2' }), 'answered');
  const strict = await startListener(t, 'node', [ROUTE], { tls: { ...files, minVersion: 'TLSv1.3' } });
  await t.rejects(get(strict.port, { maxVersion: 'TLSv1.2' }), /protocol version/);
  t.equal(await get(strict.port), 'answered');
});

void t.test('names an empty CA file and options that uws lacks', async (t) => {
  const folder = t.testdir({ 'tls.crt': TEST_CERTIFICATE, 'tls.key': TEST_KEY, 'empty.crt': '' });
  const files = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  const cases = [
    [
      'node',
      { ...files, clientCaFile: join(folder, 'empty.crt') },
      /empty\.crt \(tls\.client_ca_file\) contains no/,
    ],
    ['node', { ...files, clientCaFile: join(folder, 'no.crt') }, /no\.crt \(tls\.client_ca_file\): ENOENT/],
    ['uws', { ...files, clientCaFile: join(folder, 'tls.crt') }, /cannot ask clients.*service\.http\.engine/],
    ['uws', { ...files, minVersion: 'TLSv1.3' as const }, /cannot refuse TLS 1\.2.*service\.http\.engine/],
  ] as const;
  for (const [engine, tls, message] of cases) {
    const listener = createListener('127.0.0.1:0', { ...componentSettings('test'), engine, tls });
    await t.rejects(listener.open(), { message });
    await listener.close(AbortSignal.abort());
  }
});

for (const engine of ENGINES) {
  void t.test(`${engine}: unchanged files are not reported`, async (t) => {
    const folder = t.testdir({ 'tls.crt': TEST_CERTIFICATE, 'tls.key': TEST_KEY });
    const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
    const { port, clock, logger, listener } = await startListener(t, engine, [ROUTE], { tls });
    clock.advance(TLS_RELOAD_MS);
    // The check runs in parallel: closing ends it, and nothing follows.
    t.equal(await shownBy(port), new X509Certificate(TEST_CERTIFICATE).subject.replace('CN=', ''));
    await listener.close(AbortSignal.abort());
    clock.advance(TLS_RELOAD_MS);
    t.strictSame(
      logger.lines.filter((line) => /certificate/i.test(line)),
      [],
    );
  });
}
