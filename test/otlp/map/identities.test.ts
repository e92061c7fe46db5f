import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { mapSpan, mapSpans } from '../../support/mapped-span.js';
import { aSpan } from '../../support/otlp-requests.js';

void t.test('sessions and users need identifying texts', async (t) => {
  for (const nobody of ['', ' ', 'None', 'null', 'undefined', "[Scrubbed due to 'session']"]) {
    const { metadata } = mapSpan({
      'session.id': nobody,
      'user.id': nobody,
      'langfuse.session.id': 's-1',
      'enduser.id': 'u-1',
      metadata: JSON.stringify({ user_id: nobody, session_id: nobody }),
    });
    t.match(metadata, { session_id: 's-1', user_id: 'u-1' }, nobody);
  }
  t.match(mapSpan({ 'session.id': 'Nonesuch', 'user.id': 17 }).metadata, {
    session_id: 'Nonesuch',
    user_id: '17',
  });
});

void t.test('the repository comes from its address or its name', (t) => {
  const repositoryOf = (attributes: JsonObject, resource: JsonObject = {}): string | null => {
    const span = aSpan(1, { attributes: toKeyValues(attributes) });
    const request = {
      resourceSpans: [{ resource: { attributes: toKeyValues(resource) }, scopeSpans: [{ spans: [span] }] }],
    };
    return mapSpans(request).batch.items[0]?.spans[0]?.context?.repository ?? null;
  };
  const url = (value: string): string | null => repositoryOf({}, { 'vcs.repository.url.full': value });
  for (const address of [
    'https://example.org/acme/shop',
    'https://user:secret@example.org:8443/acme/shop.git/?x=1#y',
    'ssh://git@example.org/acme/shop.git',
    'git@example.org:acme/shop.git',
    'git@[::1]:acme/shop.git',
    '[::1]:acme/shop.git',
    'ssh://git@[::1]:22/acme/shop.git',
    ' /acme/shop ',
  ])
    t.equal(url(address), 'acme/shop', address);
  t.equal(url('https://example.org/'), null);
  t.equal(url('https://example.org'), null);
  const name = { 'vcs.repository.name': 'shop' };
  t.equal(repositoryOf({}, name), 'shop');
  t.equal(repositoryOf({}, { ...name, 'vcs.owner.name': 'acme' }), 'acme/shop');
  t.equal(repositoryOf(name, { 'vcs.repository.name': 'other' }), 'shop');
  t.end();
});
