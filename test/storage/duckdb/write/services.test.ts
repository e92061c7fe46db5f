import t from 'tap';
import { Services } from '../../../../src/storage/duckdb/write/services.js';

void t.test('groups new names of a tenant beyond the limit under one name', async (t) => {
  const services = new Services(2);
  const [a, b] = [services.number(1, 'a'), services.number(1, 'b')];
  const other = services.number(1, 'c');
  t.equal(services.name(other), '(other)');
  t.equal(services.number(1, 'd'), other);
  t.same([services.number(1, 'a'), services.number(1, 'b')], [a, b], 'known names stay');
  t.equal(services.name(services.number(2, 'c')), 'c', 'another tenant has its own limit');
});

void t.test('drops the names of a failed commit', async (t) => {
  const services = new Services();
  const kept = services.number(1, 'a');
  t.match(services.rows(1), [{ from: 0, to: 1 }]);
  services.committed();
  t.same(services.rows(2), []);
  const lost = services.number(1, 'b');
  services.rollback();
  t.equal(services.name(lost), '');
  t.same(services.rows(3), []);
  t.not(services.number(1, 'b'), kept);
  t.match(services.rows(3), [{ from: 0, to: 1 }]);
});
