// What the tests share is compiled with this: a target wants a source.
