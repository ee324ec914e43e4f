import type { ComponentChildren, JSX } from 'preact';
import { Card, Empty } from '../components/content.tsx';
import { NextPage, type Row, Rows } from '../components/rows.tsx';
import { type PageVisit, type Per, type Section, valueFor } from './section.ts';

/** One page of a list. */
export interface Listed<T> {
  items: readonly T[];
  /** The query of the next page; undefined, or with an undefined value, on the last page. */
  next?: Readonly<Record<string, string | undefined>> | undefined;
}

type ReadItems<T> = readonly T[] | Listed<T> | undefined;

/** A sentence or an element in the card, or the texts of a box in place of the card. */
type Emptiness = string | JSX.Element | { title: string; text: string };

export interface ListDefinition<V extends PageVisit, T> {
  title?: Per<V, string>;
  /** The name of the list, for screen readers. Default: the title. */
  label?: string;
  /** Plural name of the items, such as "agents". */
  noun?: string;
  /** Shown when there are none. Absent: nothing is shown. */
  empty?: Emptiness | ((visit: V, next: Listed<T>['next']) => Emptiness);
  /** Beside the title, and below the text of an empty list. */
  action?(visit: V, items: readonly T[]): ComponentChildren;
  /** Above the items. */
  text?(visit: V): ComponentChildren;
  /** All items, or a page of them. Undefined: this list is not shown. */
  read(visit: V): ReadItems<T> | Promise<ReadItems<T>>;
  /** Paths of its buttons can be relative to the page. */
  row(item: T, visit: V): Row;
  /** Below the items. */
  below?(visit: V, items: readonly T[]): ComponentChildren;
}

/** A card with a list of items and their actions. */
export function listSection<V extends PageVisit, T>(definition: ListDefinition<V, T>): Section<V> {
  const { title, noun = 'entries', text, read, row } = definition;
  return {
    async show(visit) {
      const found = await read(visit);
      const shownTitle = valueFor(title, visit);
      if (!found) return null;
      const { items, next } = 'items' in found ? found : { items: found };
      const empty = typeof definition.empty === 'function' ? definition.empty(visit, next) : definition.empty;
      const action = definition.action?.(visit, items);
      if (items.length === 0 && empty === undefined) return null;
      const box = typeof empty === 'object' && 'title' in empty ? empty : undefined;
      if (items.length === 0 && box)
        return (
          <Empty title={box.title} action={action}>
            {box.text}
          </Empty>
        );
      const more = <NextPage path={visit.address} next={next} noun={noun} />;
      return (
        <>
          <Card title={shownTitle} action={action}>
            {text?.(visit)}
            {items.length === 0 ? (
              typeof empty === 'string' ? (
                <p>{empty}</p>
              ) : (
                empty
              )
            ) : (
              <Rows
                label={definition.label ?? shownTitle ?? ''}
                rows={items.map((item) => withAddresses(row(item, visit), visit.address))}
              />
            )}
            {!box && more}
            {definition.below?.(visit, items)}
          </Card>
          {box && more}
        </>
      );
    },
  };
}

/** Paths of buttons that do not begin with a slash are below that of the page. */
function withAddresses({ buttons = [], ...row }: Row, address: string): Row {
  const below = (path: string) => (path.startsWith('/') ? path : `${address}/${path}`);
  return {
    ...row,
    buttons: buttons.map(
      (button) =>
        button &&
        ('href' in button
          ? { ...button, href: below(button.href) }
          : { ...button, action: below(button.action) }),
    ),
  };
}

/**
 * One page of items that were read with one more than it shows.
 * @param toNext the query of the page after an item
 */
export function toPage<T>(
  found: readonly T[],
  size: number,
  toNext: (last: T) => Readonly<Record<string, string>>,
): Listed<T> {
  const items = found.slice(0, size);
  const last = found.length > size ? items.at(-1) : undefined;
  return { items, next: last && toNext(last) };
}

/** The input of a list operation for the page that the query asks for. */
export function pageInput(query: URLSearchParams, limit: number, name = 'cursor') {
  const cursor = query.get(name);
  return { limit, ...(cursor !== null && { cursor }) };
}
