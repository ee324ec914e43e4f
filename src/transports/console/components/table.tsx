import type { ComponentChildren } from 'preact';

export interface Column<T> {
  title: ComponentChildren;
  cell(item: T): ComponentChildren;
  isNumber?: boolean;
  class?: string;
}

interface TableProps<T> {
  caption: string;
  /** The first one is the name of a row. */
  columns: readonly Column<NoInfer<T>>[];
  items: readonly T[];
  keyOf(item: T): string;
  class?: string;
  id?: string;
}

/** A table. On narrow screens it scrolls, by keyboard too. */
export function Table<T>({ caption, columns, items, keyOf, id, class: name = '' }: TableProps<T>) {
  const classOf = ({ isNumber = false, class: given = '' }: Column<T>) =>
    `${given}${isNumber ? ' number' : ''}`.trim() || undefined;
  return (
    <div class={`table ${name}`.trim()} role="region" aria-label={caption} tabIndex={0}>
      <table id={id}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, place) => (
              <th scope="col" class={classOf(column)} key={place}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)} id={id === undefined ? undefined : keyOf(item)}>
              {columns.map((column, place) =>
                place === 0 ? (
                  <th scope="row" class={classOf(column)} key={place}>
                    {column.cell(item)}
                  </th>
                ) : (
                  <td class={classOf(column)} key={place}>
                    {column.cell(item)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
