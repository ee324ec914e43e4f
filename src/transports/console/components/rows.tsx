import type { ComponentChildren } from 'preact';

interface Row {
  key: string;
  /** Id of the element, for lists that are live. */
  id?: string;
  /** An icon or one or two letters. */
  mark?: ComponentChildren;
  title: ComponentChildren;
  text?: ComponentChildren;
  /** Badges and buttons. */
  side?: ComponentChildren;
}

/** A list of items with their actions. */
export function Rows({ label, rows, id }: { label: string; rows: readonly Row[]; id?: string }) {
  return (
    <ul class="rows" aria-label={label} id={id}>
      {rows.map(({ key, id: rowId, mark, title, text, side }) => (
        <li class="row" key={key} id={rowId}>
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
