import { useId } from 'preact/hooks';
import { presentDay } from '../../../../../packages/core/src/records/usage.ts';

const width = 720;
const height = 180;
const left = 64;
/** Room for half of the last date. */
const right = 16;
const bottom = 24;
const top = 12;

interface ChartDay {
  /** In milliseconds. */
  day: number;
  sent: number;
  received: number;
}

const numbers = new Intl.NumberFormat('en');

/** One bar for each day, with the messages that were received on top of those that were sent. The table beneath has the same numbers. */
export function UsageChart({ days }: { days: readonly ChartDay[] }) {
  const id = useId();
  const max = Math.max(1, ...days.map(({ sent, received }) => sent + received));
  const step = (width - left - right) / days.length;
  const toHeight = (value: number) => (value / max) * (height - top - bottom);
  const sum = (key: 'sent' | 'received') => numbers.format(days.reduce((total, day) => total + day[key], 0));
  return (
    <svg
      class="usage-chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-labelledby={`${id}-title ${id}-desc`}
    >
      <title id={`${id}-title`}>Messages by day</title>
      <desc id={`${id}-desc`}>
        {`${sum('sent')} messages sent and ${sum('received')} received in ${days.length} days; at most ${numbers.format(max)} a day. The table below has the numbers of each day.`}
      </desc>
      <line x1={left} y1={height - bottom} x2={width - right} y2={height - bottom} />
      <text x={left - 8} y={top + 4} text-anchor="end">
        {numbers.format(max)}
      </text>
      <text x={left - 8} y={height - bottom} text-anchor="end">
        0
      </text>
      {days.map(({ day, sent, received }, index) => {
        const x = left + index * step + step * 0.15;
        const [low, high] = [toHeight(sent), toHeight(received)];
        return (
          <g key={day}>
            <rect class="sent" x={x} y={height - bottom - low} width={step * 0.7} height={low} />
            <rect class="received" x={x} y={height - bottom - low - high} width={step * 0.7} height={high} />
            {index % 7 === 1 && (
              <text x={x + step * 0.35} y={height - 6} text-anchor="middle">
                {presentDay(day).slice(5)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}
