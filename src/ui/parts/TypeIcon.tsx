import { Bot, Box, Database, Globe, Sparkles, Wrench } from 'lucide-react';
import type { SpanType } from '../trace/span.js';
import styles from './parts.module.css';
import { cx } from './cx.js';

const ICONS = { agent: Bot, llm: Sparkles, tool: Wrench, http: Globe, db: Database, custom: Box } as const;

export const TYPE_LABELS: Readonly<Record<SpanType, string>> = {
  agent: 'Agent',
  llm: 'Model call',
  tool: 'Tool',
  http: 'HTTP request',
  db: 'Database',
  custom: 'Step',
};

/** The type of a span as a coloured icon. */
export function TypeIcon({ type }: { readonly type: SpanType }) {
  const Icon = ICONS[type];
  return (
    <span className={cx(styles['type'], styles[`type_${type}`])} title={TYPE_LABELS[type]}>
      <Icon size={14} aria-hidden="true" />
      <span className={styles['unseen']}>{TYPE_LABELS[type]}</span>
    </span>
  );
}
