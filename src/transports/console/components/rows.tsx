import type { ComponentChildren } from 'preact';

interface Row {
  key: string;
  /** An icon or one or two letters. */
  mark?: ComponentChildren;
  title: ComponentChildren;
  text?: ComponentChildren;
  /** Badges and buttons. */
  side?: ComponentChildren;
}

/** A list of items with their actions. */
export function Rows({ label, rows }: { label: string; rows: readonly Row[] }) {
  return (
    <ul class="rows" aria-label={label}>
      {rows.map(({ key, mark, title, text, side }) => (
        <li class="row" key={key}>
          {mark !== undefined && (
            <span class="mark" aria-hidden="true">
              {mark}
            </span>
          )}
          <div class="row-text">
            <div class="row-title">{title}</div>
            {text !== undefined && <div class="row-hint">{text}</div>}
          </div>
          {side !== undefined && <div class="row-side">{side}</div>}
        </li>
      ))}
    </ul>
  );
}
