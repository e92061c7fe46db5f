import { useRef, type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import { useRemembered } from '../state/use-remembered.js';
import { cx } from './cx.js';
import styles from './Split.module.css';

const LEAST = 20;
const MOST = 80;
const HALF = 50;
const STEP = 2;

function within(percent: number): number {
  return Math.min(MOST, Math.max(LEAST, Math.round(percent * 10) / 10));
}

function readPercent(text: string): number | undefined {
  const percent = Number(text);
  return text !== '' && percent >= LEAST && percent <= MOST ? percent : undefined;
}

/**
 * Two parts side by side with a handle between them; below each other on narrow screens. The browser remembers
 * the position.
 *
 * @param name of the remembered position
 */
export function Split({
  name,
  label,
  className,
  children: [first, second],
}: {
  readonly name: string;
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: readonly [ReactNode, ReactNode];
}) {
  const [percent, setPercent] = useRemembered(name, readPercent, HALF);
  const room = useRef<HTMLDivElement>(null);
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    const box = room.current?.getBoundingClientRect();
    if (!box || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    setPercent(within(((event.clientX - box.left) / box.width) * 100));
  };
  const press = (event: KeyboardEvent): void => {
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: percent - STEP,
      ArrowRight: percent + STEP,
      Home: LEAST,
      End: MOST,
      Enter: HALF,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    setPercent(within(target));
  };
  const place = { '--first': `${String(percent)}%` };
  return (
    <div ref={room} className={cx(styles['split'], className)} style={place as CSSProperties}>
      {first}
      <div
        className={styles['handle']}
        role="separator"
        tabIndex={0}
        aria-label={label}
        aria-orientation="vertical"
        aria-valuenow={Math.round(percent)}
        aria-valuemin={LEAST}
        aria-valuemax={MOST}
        title="Drag, or use the arrow keys. Double-click or Enter: half and half."
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={drag}
        onDoubleClick={() => {
          setPercent(HALF);
        }}
        onKeyDown={press}
      />
      {second}
    </div>
  );
}
