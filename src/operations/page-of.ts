import { z } from 'zod';
import { nextCursor } from '../../packages/core/src/inputs/fields.ts';
import type { Work } from '../work/unit-of-work.ts';

/** A page of a list, as services return it. */
interface Page<Row> {
  rows: readonly Row[];
  next_cursor: string | undefined;
}

/** Returns `output` and `run` of an operation that lists: the items of a page under the name of the list, and the cursor of the next page. */
export function pageOf<Name extends string, Item extends z.ZodType, Input, Row>(
  name: Name,
  items: z.ZodArray<Item>,
  read: (work: Work, input: Input) => Promise<Page<Row>>,
  present: (row: Row) => z.output<Item>,
) {
  const list = { [name]: items } as Record<Name, z.ZodArray<Item>>;
  const output = z.object({ ...list, next_cursor: nextCursor });
  return {
    output,
    async run(work: Work, input: Input) {
      const { rows, next_cursor } = await read(work, input);
      return { [name]: rows.map((row) => present(row)), next_cursor } as z.output<typeof output>;
    },
  };
}
