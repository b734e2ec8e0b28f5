use lasthop_core::scenario::read;
#[test]
fn exp() {
    let l = "[[link]]\nname='r'\nbetween=['a','b']\nrate='1 Mbit/s'\n";
    let f = "[[flow]]\nfrom='a'\nto='b'\n";
    let mut cases: Vec<String> = ["a", "a=", "=1", "[", "[[link", "[link]\n[link]", "x='", "x=\"\\q\"", "x=1 y=2", "seed=1\nseed=2", "seed=99999999999999999999999", "seed=-1","seed='a'","seed=1.5","seed=0x","duration=5","duration='5'","duration='5 MS'","duration=1979-05-27","x=[1,","x={a=1","x={a=1\n","x=nope","naem='x'","link=3","link={}","link=[3]","profile='ns3'","profile=3","[record]\npackets=1","record.packet=true","[[link]]\nname='r'\n","[[link]]\nname='r'\nbetween=['a']\n","[[link]]\nname='r'\nbetween=['a','b','c']\n","[[link]]\nname='r'\nbetween='a-b'\n","[[link]]\nname='r'\nbetween=['a',3]\n", "x = \u{7}", "\u{0}", "é=1", "\r=1", "a.b=1\na=2", "[a]\nb=1\n[a.b]", "seed = 18446744073709551615", "seed=1e308", "seed=007","[[group]]\nname='g'\nmembers=['a', 4]"].iter().map(|s| s.to_string()).collect();
    for x in ["queue.droptial.limit='1 kB'", "queue='x'", "queue=1", "queue.droptail=1","queue.droptail.limit=1","queue.droptail.limit='1 kb'","queue.droptail.lmit='1 kB'","queue={}","[link.queue]\ndroptail={}\nred={}","loss.bernoulli.p=2","loss.bernoulli.p=nan","loss.bernoulli.p='a'","loss='bernoulli'","loss.bernoulli={}", "reorder='yes'","rate='3 Mbit/s'","[link.reverse]\nrat='1 Mbit/s'", "queue='droptail'\nqueue.droptail.limit='1 kB'"] { cases.push(format!("{l}{x}\n")); }
    for x in ["transport.tcp.variant='newrno'","transport.tcp.window=99999999999","transport.tcp.window=-1","transport.tcp.rto.min='x'","transport.tcp.rto.mni='1 s'","transport.tcp.vegas.alpha='1'","transport.tcp.ecn=1","transport='tpc'", "source.greedy.x=1", "transport.tcp.vegas.alpha=1"] { cases.push(format!("{f}{x}\n")); }
    cases.push(format!("x={}{}", "[".repeat(100000), "]".repeat(100000)));
    cases.push(format!("x={}", "{a=".repeat(100000)));
    cases.push(format!("{}=1", vec!["a"; 100000].join(".")));
    cases.push(format!("[{}]", vec!["a"; 100000].join(".")));
    for c in cases {
        println!("----- {:.60}\n{}", c.replace('\n', "\\n"), read::toml(&c, "c.toml").map_or_else(|e| e.render(false), |_| "OK".into()));
    }
    for c in ["", "{", "{\"seed\": NaN}", "{\"seed\": -1}", "{\"seed\": 1, \"seed\": 2}", "{\"link\": [{}]}","{\"link\": [{\"name\": 3}]}", "{\"seed\": null}", "{\"flow\":[{\"from\":\"a\",\"to\":\"b\",\"transport\":{\"tcpp\":1}}]}","{\"flow\":[{\"from\":\"a\",\"to\":\"b\",\"transport\":{\"tcp\":{\"vegas\":{\"x\":2}}}}]}", "{} 1", "[]", "3", "{\"seed\":1e400}","{\"seed\":1e30}", "{\"a b\": 1}", "{\"link\": [{\"rate\": \"1 MB\"}]}", "{\"link\": [{\"between\": [\"a\"]}]}","{\"flow\":[{\"from\":\"a\",\"to\":\"b\",\"transport\":\"tpc\"}]}"] {
        println!("----- {c}\n{}", read::json(c, "dict").map_or_else(|e| e.render(false), |_| "OK".into()));
    }
    println!("{}", read::json(&"[".repeat(100000), "dict").unwrap_err());
    println!("{}", read::json(&"{\"a\":".repeat(100000), "dict").unwrap_err());
    println!("{}", read::json(&"{\"link\":[{\"queue\":".repeat(100000), "dict").unwrap_err());
}
