import type { Input, List } from './types.ts';

interface ListPage {
  next_cursor?: string;
}

/** Creates a list from a function that reads one page. */
export function createList<Item, Page extends ListPage>(
  input: Input,
  items: string,
  readPage: (input: Input) => Promise<Page>,
): List<Item, Page> {
  async function* pages(): AsyncGenerator<Page, void> {
    for (let next: Input | undefined = input; next;) {
      const page: Page = await readPage(next);
      yield page;
      next = page.next_cursor === undefined ? undefined : { ...input, cursor: page.next_cursor };
    }
  }
  return {
    pages,
    page: () => readPage(input),
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* Reflect.get(page, items) as Item[];
    },
  };
}
