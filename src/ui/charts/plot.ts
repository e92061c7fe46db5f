import uPlot from 'uplot';
import { formatClock, formatTime, type Zone } from '../format/time.js';
import { bucketAt } from './buckets.js';
import { isolated, valueRange } from './values.js';

/** The look of a line; `quiet` is for reference lines. */
export type Tone = 'accent' | 'quiet' | 'fail' | 'llm' | 'tool' | 'http' | 'db' | 'custom';

export interface Line {
  readonly name: string;
  /** One per time; null leaves a gap. */
  readonly values: readonly (number | null)[];
  readonly tone?: Tone;
}

export interface Threshold {
  readonly name: string;
  readonly value: number;
}

export interface PlotOptions {
  /** Milliseconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly kind: 'lines' | 'bars';
  readonly threshold: Threshold | undefined;
  /** Both ends in milliseconds; by default those of `times`. */
  readonly range: readonly [number, number] | undefined;
  readonly zone: Zone;
  readonly height: number;
  /** Distances between grid lines, ascending; by default round numbers. */
  readonly steps: readonly number[] | undefined;
  readonly format: (value: number) => string;
  /** Called with the index of the time under the pointer, or null. */
  readonly onPoint: (at: number | null) => void;
  readonly onBrush: ((start: number, end: number) => void) | undefined;
  /** Called with the index of a clicked bar. */
  readonly onPick: ((at: number) => void) | undefined;
}

/** Colour tokens by tone; lines without a tone use them in this order. */
const TOKENS: Readonly<Record<Tone, string>> = {
  accent: '--accent',
  tool: '--type-tool',
  http: '--type-http',
  db: '--type-db',
  llm: '--type-llm',
  custom: '--type-custom',
  quiet: '--nape',
  fail: '--fail-fill',
};
const ORDER = Object.keys(TOKENS).filter((tone) => tone !== 'fail' && tone !== 'quiet') as Tone[];

/** @param at index of the line in its chart */
export function toneOf({ tone }: Line, at: number): Tone {
  return tone ?? ORDER[at % ORDER.length] ?? 'accent';
}

/** Distances between grid lines for counts: 1, 2, 5, 10, … */
const WHOLE_STEPS = Array.from({ length: 13 }, (_, at) => [1, 2, 5].map((step) => step * 10 ** at)).flat();
const AXIS_FONT = '11px system-ui, sans-serif';
const MIN_SPACE = 56;
/** Shorter drags count as clicks. */
const MIN_BRUSH_PX = 6;

/**
 * Draws a plot on a canvas in `host`. Colours are read once, so a theme change needs a new plot.
 *
 * @returns the plot, which the caller resizes and destroys
 */
export function plot(host: HTMLElement, options: PlotOptions): uPlot {
  const { times, lines, kind, threshold, range, zone, height, steps, format, onPoint, onBrush } = options;
  const { onPick } = options;
  const colour = colours(host);
  const axis: uPlot.Axis = {
    stroke: colour('--ink-soft'),
    font: AXIS_FONT,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const { paths } = uPlot;
  const bars = kind === 'bars' ? paths.bars?.({ size: [0.8, 48], align: 1 }) : undefined;
  /** Bars cover the time after their start, so the nearest start may belong to the next bar. */
  const pointed = (self: uPlot): number | null => {
    const { idx, left = -1 } = self.cursor;
    if (!bars || idx === null || idx === undefined) return idx ?? null;
    return bucketAt(times, self.posToVal(left, 'x') * 1000);
  };
  let isBrushed = false;
  return new uPlot(
    {
      width: Math.max(1, host.clientWidth),
      height,
      legend: { show: false },
      tzDate: (seconds) =>
        zone === 'utc' ? uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : new Date(seconds * 1000),
      scales: {
        x: range ? { range: [range[0] / 1000, range[1] / 1000] } : {},
        y: { range: (_plot, least, most) => valueRange(least, most, threshold?.value) },
      },
      axes: [
        { ...axis, space: 72, size: labelHeight, values: timeLabels(zone) },
        {
          ...axis,
          size: MIN_SPACE,
          ...(steps
            ? { incrs: [...steps] }
            : lines.every(({ values }) => values.every(isWhole)) && { incrs: WHOLE_STEPS }),
          // Low charts also get a second grid line, to show the scale.
          space: Math.min(36, height / 5),
          values: (_plot, splits) => splits.map((value) => (value === 0 ? '0' : format(value))),
        },
      ],
      cursor: {
        drag: { x: onBrush !== undefined, y: false, setScale: false },
        y: false,
        points: { show: !bars },
      },
      series: [
        {},
        ...lines.map((line, at): uPlot.Series => {
          const stroke = colour(TOKENS[toneOf(line, at)]);
          return bars
            ? { label: line.name, stroke, fill: stroke, width: 0, paths: bars, points: { show: false } }
            : {
                label: line.name,
                stroke,
                width: 1.75,
                points: { show: true, size: 5, fill: stroke, filter: () => isolated(line.values) },
              };
        }),
      ],
      hooks: {
        setCursor: [
          (self) => {
            onPoint(pointed(self));
          },
        ],
        ready: [
          (self) => {
            self.over.style.cursor = onPick ? 'pointer' : '';
            self.over.addEventListener('mousedown', () => {
              isBrushed = false;
            });
            self.over.addEventListener('click', () => {
              const at = pointed(self);
              if (at !== null && !isBrushed) onPick?.(at);
            });
          },
        ],
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (!onBrush || width < MIN_BRUSH_PX) return;
            isBrushed = true;
            const [start, end] = [self.posToVal(left, 'x'), self.posToVal(left + width, 'x')];
            onBrush(Math.round(start * 1000), Math.round(end * 1000));
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
        draw: threshold
          ? [
              (self) => {
                drawThreshold(self, threshold.value, colour('--fail'));
              },
            ]
          : [],
      },
    },
    [times.map((ms) => ms / 1000), ...lines.map(({ values }) => [...values])],
    host,
  );
}

/** Two lines if a day begins, otherwise one. */
function labelHeight(_plot: uPlot, labels: readonly string[] | null): number {
  return labels?.some((label) => label.includes('\n')) ? 34 : 20;
}

function isWhole(value: number | null): boolean {
  return value === null || Number.isInteger(value);
}

const DAY_S = 86_400;

/** Dates for days, clock times below; the date is on the second line where a day begins. */
function timeLabels(zone: Zone): uPlot.Axis.DynamicValues {
  return (_plot, splits, _axis, _space, step) => {
    let before = '';
    return splits.map((seconds) => {
      const [date = '', clock = ''] = formatTime(seconds * 1000, zone).split(' ');
      const day = date.slice(5);
      if (step >= DAY_S) return day;
      const time = step < 1 ? formatClock(seconds * 1000, zone) : clock.slice(0, step < 60 ? 8 : 5);
      const isNew = day !== before;
      before = day;
      return isNew ? `${time}\n${day}` : time;
    });
  };
}

function drawThreshold(self: uPlot, value: number, stroke: string): void {
  const { ctx, bbox } = self;
  const y = self.valToPos(value, 'y', true);
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

/** Resolves colour tokens for the canvas, including `light-dark()`, with a probe element. */
function colours(host: HTMLElement): (token: string) => string {
  const probe = document.createElement('span');
  host.append(probe);
  const found = new Map<string, string>();
  for (const token of [...Object.values(TOKENS), '--ink-soft', '--line', '--fail']) {
    probe.style.color = `var(${token})`;
    found.set(token, getComputedStyle(probe).color);
  }
  probe.remove();
  return (token) => found.get(token) ?? 'currentColor';
}
