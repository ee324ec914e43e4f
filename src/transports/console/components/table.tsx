import type { ComponentChildren } from 'preact';

interface TableProps {
  caption: string;
  /** The first one is the name of a row, the others are numbers. */
  columns: readonly string[];
  rows: readonly { key: string; name: ComponentChildren; cells: readonly number[] }[];
}

const numbers = new Intl.NumberFormat('en');

/** A table of numbers. On narrow screens it scrolls, by keyboard too. */
export function NumberTable({ caption, columns, rows }: TableProps) {
  return (
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, cells }) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              {cells.map((value, index) => (
                <td key={columns[index + 1]}>{numbers.format(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
