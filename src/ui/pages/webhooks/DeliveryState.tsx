import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import type { DeliveryStatus } from './load.js';

const LOOKS = {
  success: { icon: CircleCheck, words: 'Delivered', className: 'completed' },
  pending: { icon: CircleDashed, words: 'Pending', className: 'faint' },
  failed: { icon: CircleX, words: 'Failed', className: 'failed' },
} as const;

/** The state of a delivery. */
export function DeliveryState({ status }: { readonly status: DeliveryStatus }) {
  const { icon: Icon, words, className } = LOOKS[status];
  return (
    <span className={cx(parts['status'], parts[className])}>
      <Icon size={14} aria-hidden="true" /> {words}
    </span>
  );
}
