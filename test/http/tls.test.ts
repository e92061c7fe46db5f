import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { request } from 'node:https';
import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { createListener } from '../../src/http/listener.js';
import { componentSettings } from '../support/component-settings.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/http-certificate.js';
import { ENGINES, startListener } from '../support/http-listener.js';

const ROUTE: Route = {
  method: 'POST',
  path: '/',
  handle: async (request) => ({ status: 200, body: Buffer.from(await request.body()) }),
};

function post(url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', ca: TEST_CERTIFICATE, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () => {
        resolve(text);
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

for (const engine of ENGINES) {
  void t.test(`${engine}: serves TLS from files`, async (t) => {
    const folder = t.testdir({ 'server.crt': TEST_CERTIFICATE, 'server.key': TEST_KEY });
    const tls = { certFile: join(folder, 'server.crt'), keyFile: join(folder, 'server.key') };
    const { url, listener } = await startListener(t, engine, [ROUTE], { tls });
    t.match(url, /^https:/);
    t.ok(listener.secure);
    const text = 'over a safe line '.repeat(20_000);
    t.equal(await post(url, text), text);
    const hsts = async (host: string): Promise<unknown> => {
      const sent = request(url, { ca: TEST_CERTIFICATE, agent: false, headers: { host } }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      return response.headers['strict-transport-security'];
    };
    t.equal(await hsts(new URL(url).host), 'max-age=31536000');
    t.equal(await hsts(`localhost:${new URL(url).port}`), undefined, 'other servers share that name');
  });

  void t.test(`${engine}: names invalid files when the listener opens`, async (t) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const folder = t.testdir({
      'server.crt': TEST_CERTIFICATE,
      'server.key': TEST_KEY,
      'other.key': privateKey.export({ type: 'pkcs8', format: 'pem' }),
      'empty.pem': '',
    });
    const cases: readonly (readonly [string, string, RegExp])[] = [
      ['nope.crt', 'server.key', /127\.0\.0\.1:0: cannot read .*nope\.crt \(tls\.cert_file\): ENOENT/],
      ['server.crt', 'nope.key', /cannot read .*nope\.key \(tls\.key_file\): ENOENT/],
      [
        'server.crt',
        'other.key',
        /other\.key \(tls\.key_file\) does not belong to the certificate .*server\.crt/,
      ],
      ['empty.pem', 'server.key', /empty\.pem \(tls\.cert_file\) contains no certificate/],
      ['server.crt', 'empty.pem', /empty\.pem \(tls\.key_file\) contains no private key/],
      ['server.key', 'server.crt', /server\.key \(tls\.cert_file\) contains no certificate/],
    ];
    for (const [cert, key, message] of cases) {
      const tls = { certFile: join(folder, cert), keyFile: join(folder, key) };
      const listener = createListener('127.0.0.1:0', { ...componentSettings('test'), engine, tls });
      await t.rejects(listener.open(), { message }, `${cert} ${key}`);
      await listener.close(AbortSignal.abort());
    }
  });
}

void t.test('rejects different certificates of two components on one listener', async (t) => {
  const listener = createListener('127.0.0.1:0', { ...componentSettings('test') });
  listener.configure({ tls: { certFile: 'a', keyFile: 'b' } });
  listener.configure({ tls: { certFile: 'a', keyFile: 'b' } });
  listener.configure({});
  t.throws(() => {
    listener.configure({ tls: { certFile: 'a', keyFile: 'c' } });
  }, /different TLS settings/);
});
