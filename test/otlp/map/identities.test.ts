import t from 'tap';
import { mapSpan } from '../../support/mapped-span.js';

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
