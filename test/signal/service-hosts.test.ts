import t from 'tap';
import { headOfUrl, hostName, hostOf } from '../../src/signal/url-host.js';

const HOSTS: Readonly<Record<string, string | undefined>> = {
  'https://api.example.com/v1/chat?x=1#y': 'api.example.com',
  'HTTPS://API.Example.COM:8443/': 'api.example.com',
  '  http://host/  ': 'host',
  'http://host': 'host',
  'http://host./x': 'host',
  'http://host?x': 'host',
  'http://host#x': 'host',
  'http://user:secret@Host:80/x@y': 'host',
  'http://user%40x:pw@host/': 'host',
  'grpc://Orders:50051': 'orders',
  'postgresql://u:p@db.internal:5432/shop': 'db.internal',
  'ws://[::1]:80/': '::1',
  'http://[2001:DB8::A]/x': '2001:db8::a',
  'http://bücher.example/': 'xn--bcher-kva.example',
  'http://xn--bcher-kva.example/': 'xn--bcher-kva.example',
  'http://%41pi.example/': 'api.example',
  'http://192.168.0.1:8080/': '192.168.0.1',
  'http://0x7f.1/': '127.0.0.1',
  'http://under_score/x': 'under_score',
  'http://host\\path': 'host',
  'http:///': undefined,
  'http://': undefined,
  'http://?x': undefined,
  'http://a b/': undefined,
  'http://host:99999/': undefined,
  'http://host:port/': undefined,
  'http://[::1/': undefined,
  'http://ho\0st/': undefined,
  'http://./': undefined,
  'file:///etc/passwd': undefined,
  'unix:///run/x.sock': undefined,

  '//cdn.example/x.js': 'cdn.example',
  '//cdn/x.js': 'cdn',
  '//': undefined,
  'localhost:8080/path': 'localhost',
  'localhost:8080': 'localhost',
  'Orders:50051': 'orders',
  'example.com/path': 'example.com',
  'example.com': 'example.com',
  '10.0.0.1/x': '10.0.0.1',
  '[::1]:8080/x': '::1',
  '[::1]/x': '::1',

  '': undefined,
  ' ': undefined,
  '/v1/chat': undefined,
  'v1/chat': undefined,
  './chat': undefined,
  '../chat': undefined,
  '?q=http://x': undefined,
  '#top': undefined,
  localhost: undefined,
  chat: undefined,
  '::1': undefined,
  'mailto:a@example.com': undefined,
  'user@example.com/x': undefined,
  'data:text/plain,x': undefined,
  'about:blank': undefined,
  'urn:isbn:0451450523': undefined,
  'C:\\temp\\x': undefined,
  'GET http://host/': undefined,
};

for (const [url, host] of Object.entries(HOSTS)) {
  void t.test(JSON.stringify(url), async (t) => {
    t.equal(hostOf(url), host);
    t.equal(hostOf(headOfUrl(url)), host, 'and so does its prefix');
  });
}

void t.test('addresses have the form of hosts', async (t) => {
  for (const [address, host] of [
    ['[::1]', '::1'],
    ['::1', '::1'],
    ['2001:DB8::A', '2001:db8::a'],
    ['API.Example.com.', 'api.example.com'],
    ['Orders', 'orders'],
    ['localhost:8080', 'localhost'],
    ['http://Orders:80/x', 'orders'],
    ['/run/x.sock', '/run/x.sock'],
  ] as const)
    t.equal(hostName(address), host, address);
});
