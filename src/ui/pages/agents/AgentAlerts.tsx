import { useAlertNews, useRules } from '../alerts/load.js';
import { RULE_COLUMNS } from '../alerts/rule-columns.js';
import { Table } from '../../parts/Table.js';
import styles from './Agent.module.css';

const COLUMNS = RULE_COLUMNS.filter(({ name }) => name !== 'target');

/** The alerts that watch an agent, with what they do now. Nothing where there are none. */
export function AgentAlerts({ agentId }: { readonly agentId: string }) {
  const { data } = useRules();
  useAlertNews();
  const items = data?.filter(({ agent_id }) => agent_id === agentId) ?? [];
  if (items.length === 0) return null;
  return (
    <section className={styles['section']}>
      <h2>Alerts</h2>
      <Table label="Alerts" items={items} columns={COLUMNS} keyOf={({ id }) => id} />
    </section>
  );
}
