-- Step 3 of docs/scaling.md: a unique key of a distributed table needs the distribution column. Blocks writes to these tables while
-- PostgreSQL builds the indexes. distribute.sql adds the foreign key again, after both tables are distributed.
begin;
alter table messages drop constraint messages_pkey, add primary key (thread_id, id);
create index messages_id on messages (id);
alter table message_search drop constraint message_search_pkey, add primary key (thread_id, message_id);
create index message_search_message_id on message_search (message_id);
-- The primary key does the same.
drop index message_search_thread;
alter table thread_members drop constraint thread_members_thread_id_fkey;
commit;
