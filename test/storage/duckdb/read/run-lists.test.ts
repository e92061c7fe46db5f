import t from 'tap';
import { EventEngine } from '../event-engine.js';
import { aHeader, NOON } from '../../../support/run-records.js';
import { queriesDuring } from '../watched-statements.js';

void t.test('searches for missing runs with one query', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const user = await engine.addUser(null);
  const items = [{ trace: aHeader({ metadata: { session_id: 'sent' } }), spans: [] }];
  await engine.write(user, items, NOON);
  const { database, runs } = engine.parts;
  const queriesOf = async (session_id: string, count: number): Promise<number> => {
    const queries = await queriesDuring(database, async () => {
      const found = await runs.list(engine.asking(user.tenant), { session_id }, { offset: 0, limit: 20 });
      t.equal(found.count, count, session_id);
    });
    return queries.length;
  };
  t.equal(await queriesOf('nowhere', 0), 1, 'one query finds the matches');
  t.equal(await queriesOf('sent', 1), 3, 'three queries: matches, page and runs');
});
