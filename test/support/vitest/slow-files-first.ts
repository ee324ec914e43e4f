import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Where the files are that take longest, the longest first: one that began last would keep the others waiting. */
const slowPaths = [
  'test/acceptance/pages/',
  'test/integration/workers/',
  'test/integration/rest/fuzz/fuzz.test.ts',
  'test/integration/embedded/',
  'test/integration/chaos/',
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
