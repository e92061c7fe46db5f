import { Link } from 'wouter';
import type { Column } from '../../parts/DataTable.js';
import { Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { RuleState } from './RuleState.js';
import { Target } from './Target.js';
import { CHANNELS, formatRule, ruleName, type Rule } from './labels.js';

/** Columns of rule lists; the first links to the rule, the second to its target. */
export const RULE_COLUMNS: readonly Column<Rule>[] = [
  {
    name: 'rule',
    header: 'Alert',
    isWide: true,
    render: (rule) => (
      <>
        <Link href={`/alerts/${rule.id}`}>{ruleName(rule)}</Link>{' '}
        {rule.name !== null && <span className={parts['faint']}>{formatRule(rule)}</span>}
      </>
    ),
  },
  { name: 'target', header: 'Target', render: (rule) => <Target rule={rule} /> },
  {
    name: 'state',
    header: 'State',
    render: (rule) => <RuleState isActive={rule.is_active} isFiring={rule.is_firing} />,
  },
  {
    name: 'fired',
    header: 'Last fired',
    isNamed: true,
    render: ({ last_fired_at }) => <Time at={last_fired_at} relative missing="Never fired" />,
  },
  { name: 'channel', header: 'Notification', render: ({ channel }) => CHANNELS[channel] },
];
