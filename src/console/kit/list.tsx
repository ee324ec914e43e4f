import type { ComponentChildren } from 'preact';

export interface Row {
  key: string;
  /** A letter or two, or a drawing, in front. */
  mark?: ComponentChildren;
  title: ComponentChildren;
  text?: ComponentChildren;
  /** Badges and buttons. */
  side?: ComponentChildren;
}

/** Things below each other, each with what can be done about it. */
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

interface TableProps {
  /** What the table shows; read out, not seen. */
  caption: string;
  columns: readonly string[];
  rows: readonly { key: string; cells: readonly ComponentChildren[] }[];
}

/** Things of one kind with several facts each. On a narrow screen it scrolls by itself. */
export function Table({ caption, columns, rows }: TableProps) {
  return (
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" key={column}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => (
                <td key={columns[index]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
