import type { Context } from 'koa';
import { expect, test } from 'vitest';
import { addressKey } from '../../../src/transports/http/address-key.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['', 'unknown'],
  ['not an address', 'unknown'],
  ['x'.repeat(10_000), 'unknown'],
])('the address %s is counted as %s', (ip, key) => {
  expect(addressKey({ ip } as Context)).toBe(key);
});
