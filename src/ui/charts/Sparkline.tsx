import { formatCounted } from '../format/number.js';
import styles from './charts.module.css';

const [WIDTH, HEIGHT] = [96, 20];

/** A line without axes, scaled to its highest value. Renders nothing without values. */
export function Sparkline({ label, values }: { readonly label: string; readonly values: readonly number[] }) {
  const most = Math.max(...values, 0);
  if (most === 0) return null;
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map((value, at) => {
    const y = HEIGHT - 1 - (value / most) * (HEIGHT - 2);
    return `${(at * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const sum = values.reduce((all, one) => all + one, 0);
  return (
    <svg
      className={styles['sparkline']}
      viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
      role="img"
      aria-label={`${label}: ${formatCounted(sum, 'run')}, peak ${String(most)}`}
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
}
