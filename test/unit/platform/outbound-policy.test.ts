import { expect, test } from 'vitest';
import { createOutboundPolicy, findUrlProblem } from '../../../src/platform/outbound/policy.ts';

const problemOf = (url: string, networks: Parameters<typeof createOutboundPolicy>[0] = []) =>
  findUrlProblem(createOutboundPolicy(networks), url, 'WEBHOOK_NETWORKS');

test.for(['https://localhost/hook', 'https://a.LOCALHOST./hook', 'https://127.1/hook', 'https://[::1]/hook'])(
  'the machine itself is refused when its URL is stored, under each of its names: %s',
  (url) => {
    expect(problemOf(url)).toBe('must lead to a public address');
    expect(problemOf('https://localhost.example/hook')).toBeUndefined();
  },
);

test('the machine itself is allowed with its network', () => {
  const networks = [{ address: '127.0.0.0', prefix: 8 }];
  expect(problemOf('http://localhost:8080/hook', networks)).toBeUndefined();
  expect(problemOf('http://localhost.:8080/hook', networks)).toBeUndefined();
});
