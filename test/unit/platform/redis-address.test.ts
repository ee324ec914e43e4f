import { describe, expect, test } from 'vitest';
import { parseRedisAddress } from '../../../src/platform/redis/address.ts';

describe('the address of Redis', () => {
  test('of one server is unchanged', () => {
    for (const url of ['redis://r', 'rediss://user:p%40ss@r:6380/2', 'redis://:secret@[::1]:6379'])
      expect(parseRedisAddress(url)).toEqual({ kind: 'server', url });
  });

  test('of a cluster names some of its nodes', () => {
    expect(parseRedisAddress('redis+cluster://one')).toEqual({
      kind: 'cluster',
      hosts: [{ host: 'one', port: 6379 }],
      tls: false,
    });
    expect(parseRedisAddress('rediss+cluster://ams:p%40%3A%25@10.0.0.1:7000, [fd00::2]:7001,three/')).toEqual(
      {
        kind: 'cluster',
        hosts: [
          { host: '10.0.0.1', port: 7000 },
          { host: 'fd00::2', port: 7001 },
          { host: 'three', port: 6379 },
        ],
        tls: true,
        username: 'ams',
        password: 'p@:%',
      },
    );
    expect(parseRedisAddress('redis+cluster://:a:b@one')).toMatchObject({ password: 'a:b' });
  });

  test('of sentinels names the master that they watch, and how to connect to them', () => {
    expect(parseRedisAddress('redis+sentinel://one,two:5000/my%20master')).toEqual({
      kind: 'sentinel',
      hosts: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 5000 },
      ],
      tls: false,
      master: 'my master',
      db: 0,
    });
    const query = 'sentinel_username=s&sentinel_password=p%26q';
    expect(parseRedisAddress(`rediss+sentinel://u:p@one/main/3?${query}`)).toMatchObject({
      tls: true,
      username: 'u',
      password: 'p',
      master: 'main',
      db: 3,
      sentinel_username: 's',
      sentinel_password: 'p&q',
    });
  });

  const wrong: [url: string, words: string][] = [
    ['', 'must be an address'],
    ['localhost:6379', 'must be an address'],
    ['http://one', 'must be an address'],
    ['redis://one:7000,two:7001', 'must be an address'],
    ['redis+other://one', 'must be an address'],
    ['redis://', 'must name a host'],
    ['redis:///1', 'must name a host'],
    ['redis://one/jobs', 'must end with the number of a database'],
    ['redis://one/-1', 'must end with the number of a database'],
    ['rediss://one/1/2', 'must end with the number of a database'],
    ['redis+cluster://a@b@one', 'must be an address'],
    ['redis+cluster://', 'must name its hosts'],
    ['redis+cluster://one,', 'must name its hosts'],
    ['redis+cluster://one:0', 'must name its hosts'],
    ['redis+cluster://one:65536', 'must name its hosts'],
    ['redis+cluster://on e', 'must name its hosts'],
    ['redis+cluster://fd00::2', 'must name its hosts'],
    ['redis+cluster://:100%@one', 'must write a %'],
    ['redis+cluster://one/1', 'must end after the hosts'],
    ['redis+cluster://one?sentinel_password=x', 'must end after the hosts'],
    ['redis+sentinel://one', 'must end with the name of the master'],
    ['redis+sentinel://one/', 'must end with the name of the master'],
    ['redis+sentinel://one/main/x', 'must end with the name of the master'],
    ['redis+sentinel://one/main?password=x', 'takes sentinel_username and sentinel_password'],
  ];
  test.each(wrong)('%s is refused with the reason', (url, words) => {
    expect(() => parseRedisAddress(url)).toThrow(TypeError);
    expect(() => parseRedisAddress(url)).toThrow(words);
  });

  test('is not shown in the error, because it may contain a password', () => {
    for (const rest of ['one:x', 'one/1', 'on e', 'one?a=b', '%@one'])
      expect(() => parseRedisAddress(`redis+cluster://u:hunter2@${rest}`)).toThrow(/^(?!.*hunter2)/s);
  });
});
