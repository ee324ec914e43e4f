import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Where the files are that take longest, the longest first: one that began last would keep the others waiting. */
const slowPaths = [
  'test/integration/notifications/delivery.test.ts',
  'test/acceptance/mcp/',
  'test/integration/platform/',
  'test/integration/workers/',
  'test/integration/rest/http/',
  'test/integration/ws/',
  'test/integration/cli/',
  'test/acceptance/',
];

/** The order of files: the long ones, then the others as vitest has it. */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = slowPaths.findIndex((part) => moduleId.includes(`/${part}`));
      return place === -1 ? slowPaths.length : place;
    };
    return others.toSorted((a, b) => rank(a) - rank(b));
  }
}
