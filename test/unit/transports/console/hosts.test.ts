import { expect, test } from 'vitest';
import { isOnDevice } from '../../../../src/transports/console/hosts.ts';

test('only loopback addresses and private schemes are on the device', () => {
  const there = ['localhost', 'localhost:4312', '127.0.0.1:80', '[::1]:9000', 'cursor:', 'com.example.app:'];
  const elsewhere = ['localhost.example', '127.0.0.1.example:443', '127.example', 'app.example', '[::2]'];
  expect([...there, ...elsewhere].filter(isOnDevice)).toEqual(there);
});
